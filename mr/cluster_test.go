package mr_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestJobOnACluster(t *testing.T) {
	c := newTestCluster(t, wordCount())
	in, embedded, here := inputDir(t, "b a b\n", "c b\n"), outputDir(t), t.TempDir()
	mrtest.Command(t, wordCount(), "-D", "mapreduce.job.reduces=2", in, embedded)
	t.Chdir(here)
	path := filepath.Join(here, "report.json")
	got := mrtest.Exec(t, wordCount(), "--master", c.address, "--token-file", c.tokenFile, "--report", path,
		"-D", "mapreduce.job.reduces=2", in, "out")
	if got.Code != mr.ExitDone || !strings.Contains(got.Stderr, "completed successfully") {
		t.Fatalf("exit code %d\n%s", got.Code, got.Stderr)
	}
	want := filesIn(t, embedded)
	delete(want, "_SUCCESS")
	wantFiles(t, filepath.Join(here, "out"), want)
	doc, err := report.ReadFile(path)
	if err != nil || doc.State != "SUCCEEDED" || !strings.HasPrefix(doc.JobID, "job_17_") {
		t.Errorf("report: %s %s, error %v", doc.JobID, doc.State, err)
	}
}

func TestMastersFromTheEnvironment(t *testing.T) {
	c := newTestCluster(t, wordCount())
	t.Setenv("HAMMR_MASTER", c.address)
	t.Setenv("HAMMR_TOKEN_FILE", c.tokenFile)
	got := mrtest.Exec(t, wordCount(), inputDir(t, "a\n"), outputDir(t))
	if got.Code != mr.ExitDone || !strings.Contains(got.Stderr, "Running job: job_17_0001") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
	got = mrtest.Exec(t, wordCount(), "--master", "local", inputDir(t, "a\n"), outputDir(t))
	if got.Code != mr.ExitDone || !strings.Contains(got.Stderr, "Running job: job_local") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

func TestDetach(t *testing.T) {
	c := newTestCluster(t, wordCount())
	dir := outputDir(t)
	got := mrtest.Exec(t, wordCount(), "--master", c.address, "--token-file", c.tokenFile, "--detach", inputDir(t, "a b\n"), dir)
	id := strings.TrimSpace(got.Stdout)
	if got.Code != mr.ExitDone || !strings.HasPrefix(id, "job_17_") {
		t.Fatalf("exit code %d, stdout %q\n%s", got.Code, got.Stdout, got.Stderr)
	}
	status, err := c.admin().Watch(t.Context(), id, nil)
	if err != nil || status.State != wire.JobState_SUCCEEDED {
		t.Fatalf("the job ended as %v, %v", status, err)
	}
	wantFiles(t, dir, map[string]string{"part-r-00000": "a\t1\nb\t1\n"})
}

// TestCtrlCLeavesTheJob interrupts a client that has no terminal. The job keeps running.
func TestCtrlCLeavesTheJob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	proceed := make(chan struct{})
	waiting := mr.New("waiting", mr.TextLines(), mr.MapFunc(func(t *mr.Task, offset int64, line []byte, out countEmitter) error {
		cancel()
		<-proceed
		return words.Map(t, offset, line, out)
	}), mr.Sum[string, int64](), mr.TextOutput[string, int64]())
	c := newTestCluster(t, waiting)
	dir, path := outputDir(t), filepath.Join(t.TempDir(), "report.json")
	var stderr bytes.Buffer
	code := mr.Run(ctx, waiting, []string{"--quiet", "--master", c.address, "--token-file", c.tokenFile, "--report", path,
		inputDir(t, "a b\n"), dir}, os.Stdout, &stderr)
	close(proceed)
	const id = "job_17_0001"
	want := "Job " + id + " continues. Watch it with: hammr job wait " + id + " --master " + c.address + "\n"
	if code != mr.ExitInterrupted || stderr.String() != want {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
	if doc, err := report.ReadFile(path); err != nil || doc.State != "RUNNING" {
		t.Errorf("report: state %s, error %v", doc.State, err)
	}
	status, err := c.admin().Watch(t.Context(), id, nil)
	if err != nil || status.State != wire.JobState_SUCCEEDED {
		t.Errorf("the job ended as %v, %v", status, err)
	}
}

// TestProgramThatGivesUpKillsItsJob cancels the context of a driver's run but not the
// program's. The job is killed.
func TestProgramThatGivesUpKillsItsJob(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	job := endless(giveUp, "map")
	program := &mr.Program{Name: "impatient", Jobs: []mr.Runnable{job}, Run: func(_ context.Context, d *mr.Driver) error {
		return d.Run(ctx, job, mr.JobRun{In: d.Args[:1], Out: d.Args[1]})
	}}
	c := newTestCluster(t, program)
	dir := outputDir(t)
	got := mrtest.Exec(t, program, "--master", c.address, "--token-file", c.tokenFile, inputDir(t, "a\nb\nc\n"), dir)
	if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, "killed by the user") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
	gone(t, dir)
}

func TestInvalidClusterOptions(t *testing.T) {
	t.Setenv("HAMMR_MASTER", "")
	for want, args := range map[string][]string{
		"--detach without --master": {"--detach", "in", "out"},
		"--workers with --master":   {"--workers", "2", "--master", "a:1", "in", "out"},
		`master "a:b": not an addr`: {"--master", "a:b", "in", "out"},
		"a value is missing":        {"in", "out", "--master"},
	} {
		got := mrtest.Exec(t, wordCount(), args...)
		if got.Code != mr.ExitUsage || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: exit code %d\n%s", args, got.Code, got.Stderr)
		}
	}
}

func TestClusterThatRefusesTheClient(t *testing.T) {
	c := newTestCluster(t, wordCount())
	wrong := mrtest.File(t, "token", "a-guess-of-16-bytes-or-more")
	must.Do(t, os.Chmod(wrong, 0o600))
	fails(t, wordCount(), mr.ExitFailed, []string{"--master", c.address, "--token-file", wrong, inputDir(t, "a\n"), outputDir(t)},
		c.address+": the token is not that of cluster 17; name the file of the cluster's with --token-file")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HAMMR_TOKEN_FILE", "")
	fails(t, wordCount(), mr.ExitFailed, []string{"--master", c.address, inputDir(t, "a\n"), outputDir(t)},
		"no token for the cluster of "+c.address)
}
