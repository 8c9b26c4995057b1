package mr_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestJobsAreContinued starts a chain of two jobs, with the same job run twice, again and again. Each
// start finds the jobs of the first one, although their outputs exist and an input is gone.
func TestJobsAreContinued(t *testing.T) {
	job := wordCount()
	program := &mr.Program{Name: "chain", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		if err := d.CheckOutput(ctx, d.Args[:1], d.Args[1]); err != nil {
			return err
		}
		between := d.TempDir(d.Args[1])
		if err := d.Run(ctx, job, mr.JobRun{In: d.Args[:1], Out: between}); err != nil {
			return err
		}
		return d.Run(ctx, job, mr.JobRun{In: []string{between}, Out: d.Args[1]})
	}}
	c := newTestCluster(t, program)
	out := outputDir(t)
	args := []string{"--master", c.address, "--token-file", c.tokenFile, inputDir(t, "a b a\n"), out}
	jobs := func() (ids []string) {
		t.Helper()
		all, err := docs.AllJobs.From(t.Context(), c.admin(), docs.AllQuery{Finished: docs.Yes})
		must.Do(t, err)
		for _, s := range all {
			ids = append(ids, s.JobID)
		}
		return ids
	}
	for range 2 { // the second start continues what is over
		t.Setenv("HAMMR_CONTINUE", t.TempDir())
		got := mrtest.Exec(t, program, args...)
		if got.Code != mr.ExitDone || !strings.Contains(got.Stderr, "Running job: job_17_0001") || !strings.Contains(got.Stderr, "Running job: job_17_0002") ||
			strings.Count(got.Stderr, "completed successfully") != 2 {
			t.Fatalf("exit code %d\n%s", got.Code, got.Stderr)
		}
		if ids := jobs(); len(ids) != 2 {
			t.Errorf("jobs %q", ids)
		}
		claims, err := os.ReadDir(os.Getenv("HAMMR_CONTINUE"))
		if err != nil || len(claims) != 2 || claims[0].Name() != "job_17_0001" {
			t.Errorf("claims %v, %v", claims, err)
		}
	}
	wantFiles(t, out, map[string]string{"part-r-00000": "1\t1\n2\t1\na\t1\nb\t1\n"})
	fails(t, program, mr.ExitFailed, args, "Output directory file:"+out+" already exists") // both jobs are claimed
	t.Setenv("HAMMR_CONTINUE", "")
	fails(t, program, mr.ExitFailed, args, "Output directory file:"+out+" already exists")
}

// TestAClaimThatFails reports a directory that does not exist, and starts no job twice.
func TestAClaimThatFails(t *testing.T) {
	c := newTestCluster(t, wordCount())
	missing := filepath.Join(t.TempDir(), "none")
	t.Setenv("HAMMR_CONTINUE", missing)
	fails(t, wordCount(), mr.ExitFailed, []string{"--master", c.address, "--token-file", c.tokenFile, inputDir(t, "a\n"), outputDir(t)},
		"claim of job job_17_0001 (HAMMR_CONTINUE): open "+missing)
}
