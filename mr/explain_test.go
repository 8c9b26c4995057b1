package mr_test

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

var updateExplained = flag.Bool("update-explained", false, "rewrite testdata/explain.txt")

// TestExplain compares the tables of several jobs, inputs and properties with a golden file.
func TestExplain(t *testing.T) {
	text := lines(2000)
	gz := mrtest.File(t, "text.gz", gzipOf(t, text))
	plain, small := mrtest.File(t, "plain", text), inputDir(t, "a\n", "b\n", "c\n")
	job := mr.New("numbers", mr.Numbers("n"), mr.MapFunc(func(*mr.Task, int64, none, countEmitter) error { return nil }), sums, textual)
	numbers := &mr.Program{Name: "numbers", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, job, mr.JobRun{Out: d.Args[0]})
	}}
	graphs := countingGraphs()
	var got strings.Builder
	for _, c := range []struct {
		name string
		r    mr.Runnable
		args []string
	}{
		{"defaults", wordCount(), []string{plain}},
		{"short splits", wordCount(), []string{"-D", "mapreduce.input.fileinputformat.split.maxsize=10000", plain}},
		{"long splits", wordCount(), []string{"-D", "mapreduce.input.fileinputformat.split.minsize=1g", plain}},
		{"a compressed file", wordCount(), []string{gz}},
		{"small files", wordCount(), []string{small}},
		{"small files alone", wordCount(), []string{"-D", "hammr.input.combine=false", small}},
		{"reduces of the program", wordCount().Reduces(1), []string{plain}},
		{"reduces of the user", wordCount().Reduces(1), []string{"-D", "mapreduce.job.reduces=5", plain}},
		{"reduces from the slots", wordCount(), []string{"-D", "hammr.job.reduces.auto=true", plain}},
		{"one worker", wordCount(), []string{"-D", "mapreduce.input.fileinputformat.split.maxsize=10000", "--workers=1", plain}},
		{"no reduces", mr.MapOnly("copy", mr.TextLines(), words, textual), []string{plain}},
		{"no files", numbers, []string{"-D", "n=3"}},
		{"a pipe", graphs["pipe"], []string{"-D", "mapreduce.input.fileinputformat.split.maxsize=20000", plain}},
		{"fixed numbers", graphs["two rounds"], []string{plain}},
		{"a top", topGraph(3, mr.ByValue), []string{plain}},
	} {
		args := []string{"--explain", "--workers=4"}
		result := mrtest.Exec(t, c.r, append(args, append(c.args, outputDir(t))...)...)
		if result.Code != mr.ExitDone || result.Stderr != "" {
			t.Fatalf("%s: exit code %d\n%s", c.name, result.Code, result.Stderr)
		}
		fmt.Fprintf(&got, "=== %s\n%s\n", c.name, result.Stdout)
	}
	golden := filepath.Join("testdata", "explain.txt")
	if *updateExplained {
		must.Do(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must.Do(t, err)
	if got.String() != string(want) {
		t.Errorf("%s differs, got\n%s", golden, got.String())
	}
}

// gzipOf compresses a text.
func gzipOf(t *testing.T, text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	return b.String()
}

// TestExplainRunsNothing checks that no output appears, and that errors are those of a run.
func TestExplainRunsNothing(t *testing.T) {
	out := outputDir(t)
	mrtest.Command(t, wordCount(), "--explain", inputDir(t, "a\n"), out)
	gone(t, out)
	fails(t, wordCount(), mr.ExitUsage, []string{"--explain"}, "Usage: wordcount ")
	fails(t, wordCount(), mr.ExitFailed, []string{"--explain", t.TempDir() + "/missing", out}, "missing")
}

// TestReducesFollowTheSlots runs jobs with hammr.job.reduces.auto. A number that the user or
// the program sets has precedence.
func TestReducesFollowTheSlots(t *testing.T) {
	in := inputDir(t, lines(50))
	for name, c := range map[string]struct {
		job  mr.Runnable
		args []string
		want int
	}{
		"off":            {wordCount(), nil, 1},
		"on":             {wordCount(), []string{"-D", "hammr.job.reduces.auto=true"}, 3},
		"set by program": {wordCount().Reduces(2), []string{"-D", "hammr.job.reduces.auto=true"}, 2},
		"set by user":    {wordCount(), []string{"-D", "hammr.job.reduces.auto=true", "-D", "mapreduce.job.reduces=1"}, 1},
	} {
		out := outputDir(t)
		mrtest.Command(t, c.job, append(append([]string{}, c.args...), "--workers=3", in, out)...)
		if got := len(filesIn(t, out)) - 1; got != c.want { // without _SUCCESS
			t.Errorf("%s: %d reduces, want %d", name, got, c.want)
		}
	}
}

// TestReducesFollowTheSlotsOfACluster asks a cluster, also to explain a job.
func TestReducesFollowTheSlotsOfACluster(t *testing.T) {
	c := newTestCluster(t, wordCount())
	in, out := inputDir(t, "a b\n"), outputDir(t)
	args := []string{"--master", c.address, "--token-file", c.tokenFile, "-D", "hammr.job.reduces.auto=true"}
	mrtest.Command(t, wordCount(), append(args, in, outputDir(t))...) // when it ends, the tasknode is known
	explained := mrtest.Exec(t, wordCount(), append(append([]string{"--explain"}, args...), in, out)...)
	if explained.Code != mr.ExitDone || !strings.Contains(explained.Stdout, "on the cluster: map slots 2, reduce slots 2.") {
		t.Errorf("exit code %d\n%s%s", explained.Code, explained.Stdout, explained.Stderr)
	}
	gone(t, out)
	mrtest.Command(t, wordCount(), append(args, in, out)...)
	if got := len(filesIn(t, out)) - 1; got != 2 {
		t.Errorf("%d reduces, want 2", got)
	}
}
