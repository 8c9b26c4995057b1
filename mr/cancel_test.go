package mr_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/mr"
)

// endless returns a job that cancels the context of its own run and then waits until its
// context ends. where selects the place: "map", "reduce" or "values".
func endless(cancel func(), where string) *mr.Job[string, int64, string, int64] {
	return mr.New("endless", mr.TextLines(), mr.MapFunc(func(t *mr.Task, offset int64, line []byte, out countEmitter) error {
		if where == "map" && offset > 0 {
			cancel()
			<-t.Context().Done()
		}
		return words.Map(t, offset, line, out)
	}), mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		switch {
		case where == "reduce":
			cancel()
			<-t.Context().Done()
			return t.Context().Err()
		case where == "values":
			cancel()
			<-t.Context().Done()
		}
		return mr.Sum[string, int64]().Reduce(t, key, values, out)
	}), mr.TextOutput[string, int64]())
}

// TestCancellation cancels a running job. It exits with 130, removes its output and local
// files, and reports that it was killed.
func TestCancellation(t *testing.T) {
	for _, where := range []string{"map", "reduce", "values"} {
		t.Run(where, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			dir, local, path := outputDir(t), t.TempDir(), filepath.Join(t.TempDir(), "report.json")
			var stderr bytes.Buffer
			code := mr.Run(ctx, endless(cancel, where), []string{"--report", path, "-D", "mapreduce.cluster.local.dir=" + local,
				"-D", "hammr.input.combine=false", inputDir(t, "a b\nc d\ne\n", "x y\nz\n"), dir}, os.Stdout, &stderr)
			if code != mr.ExitInterrupted {
				t.Errorf("exit code %d, want %d", code, mr.ExitInterrupted)
			}
			if !strings.Contains(stderr.String(), "killed by the user") {
				t.Errorf("no word of the user in\n%s", stderr.String())
			}
			onlyIn(t, filepath.Dir(dir))
			onlyIn(t, local)
			doc, err := report.ReadFile(path)
			if err != nil || doc.State != "KILLED" || len(doc.Failures) != 0 {
				t.Errorf("report: state %s, failures %v, error %v", doc.State, doc.Failures, err)
			}
		})
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := outputDir(t)
	var stderr bytes.Buffer
	if code := mr.Run(ctx, wordCount(), []string{inputDir(t, "a\n"), dir}, os.Stdout, &stderr); code != mr.ExitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, mr.ExitInterrupted, stderr.String())
	}
	onlyIn(t, filepath.Dir(dir))
}

func TestCancelledChainRemovesItsTemporaryDirectory(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := endless(cancel, "map")
	program := &mr.Program{Name: "chain", Jobs: []mr.Runnable{job, wordCount()}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, job, mr.JobRun{In: d.Args[:1], Out: d.TempDir(d.Args[1])})
	}}
	dir := outputDir(t)
	var stderr bytes.Buffer
	if code := mr.Run(ctx, program, []string{inputDir(t, "a\nb\n"), dir}, os.Stdout, &stderr); code != mr.ExitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, mr.ExitInterrupted, stderr.String())
	}
	onlyIn(t, filepath.Dir(dir))
}
