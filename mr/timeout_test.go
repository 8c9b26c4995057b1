package mr_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// stuck returns a job whose map or reduce waits at the word "stuck".
func stuck(where string, wait func(t *mr.Task) error) *mr.Job[string, int64, string, int64] {
	return mr.New("stuck", mr.TextLines(), mr.MapFunc(func(t *mr.Task, offset int64, line []byte, out countEmitter) error {
		if where == "map" && string(line) == "stuck" {
			t.Log().Info("about to wait")
			return wait(t)
		}
		return words.Map(t, offset, line, out)
	}), mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
		if where == "reduce" && key == "stuck" {
			t.Log().Info("about to wait")
			return wait(t)
		}
		return mr.Sum[string, int64]().Reduce(t, key, values, out)
	}), mr.TextOutput[string, int64]())
}

// TestTimeout runs a task that reports no status, in virtual time. The job fails soon after the limit,
// whether or not the task observes the end of its context. If it does not, the failure shows
// its stack.
func TestTimeout(t *testing.T) {
	for _, where := range []string{"map", "reduce"} {
		for name, deaf := range map[string]bool{"heeding": false, "deaf": true} {
			t.Run(where+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkTimeout(t, where, deaf) })
			})
		}
	}
}

func checkTimeout(t *testing.T, where string, deaf bool) {
	release, left := make(chan struct{}), make(chan struct{})
	job := stuck(where, func(t *mr.Task) error {
		defer close(left)
		return waitFor(t, release, deaf)
	})
	began, dir := time.Now(), outputDir(t)
	got, doc := reportOf(t, job, once("-D", "mapreduce.task.timeout=300", inputDir(t, "a\nstuck\n"), dir)...)
	took := time.Since(began)
	close(release)
	<-left // a goroutine that ignores its context ends only with its process
	if got.Code != mr.ExitFailed || took > time.Minute {
		t.Errorf("exit code %d after %v", got.Code, took)
	}
	const cause = " failed to report status for 0.3 seconds. Killing! (mapreduce.task.timeout)"
	if len(doc.Failures) == 0 || !strings.HasSuffix(doc.Failures[0].Cause, cause) || !strings.Contains(got.Stderr, cause) {
		t.Errorf("failures %+v\n%s", doc.Failures, got.Stderr)
	}
	for _, phrase := range []string{"user code has to return when its context is done", "mr_test.waitFor("} {
		if shown := strings.Contains(got.Stderr, phrase); shown != deaf {
			t.Errorf("%q is shown: %v\n%s", phrase, shown, got.Stderr)
		}
	}
	onlyIn(t, filepath.Dir(dir))
}

// waitFor waits until the attempt ends. If deaf is true, it ignores that and waits for
// release.
func waitFor(t *mr.Task, release <-chan struct{}, deaf bool) error {
	if deaf {
		<-release
		return nil
	}
	<-t.Context().Done()
	return context.Cause(t.Context())
}

// TestSignsOfLife processes records that take longer than the limit but report status.
func TestSignsOfLife(t *testing.T) {
	for where, live := range map[string]func(t *mr.Task){
		"map": (*mr.Task).Alive, "reduce": func(t *mr.Task) { t.SetStatus("busy") },
	} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := stuck(where, func(t *mr.Task) error {
					for range 4 {
						time.Sleep(time.Second)
						live(t)
					}
					return nil
				})
				if got := mrtest.Exec(t, job, once("-D", "mapreduce.task.timeout=3s", inputDir(t, "stuck\n"), outputDir(t))...); got.Code != mr.ExitDone {
					t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
				}
			})
		})
	}
}
