package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
)

// TestAReduceMovesWithItsCheckpoint preempts a running reduce on a tasknode that takes no
// new tasks. The reduce resumes on another tasknode, which fetches its checkpoint. The
// output equals that of an undisturbed run.
func TestAReduceMovesWithItsCheckpoint(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	e.newNode("first", "--dir", t.TempDir(), "--map-slots", "2", "--reduce-slots", "1")
	in, dir := proseFile(t, "prose", 60<<10), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "--quiet", in, want)
	id := e.submit("wordcount", "-D", "hammr.debug.record.sleep=1ms", "-D", "hammr.preempt.boundary.timeout=1m", in, out)
	reduces := func() []report.Attempt {
		i := slices.IndexFunc(e.job(id).Tasks, func(task report.Task) bool { return task.Type == report.Reduce })
		if i < 0 {
			return nil
		}
		return e.job(id).Tasks[i].Attempts
	}
	waitUntil(t, "the maps are done and the reduce runs", func() bool {
		return len(e.finishedMaps(id)) > 0 && len(reduces()) > 0
	})
	e.done("node", "remove", "first")
	e.done("task", "preempt", reduces()[0].ID, "--how", "checkpoint")
	e.newNode("second", "--dir", t.TempDir(), "--map-slots", "2", "--reduce-slots", "1")
	e.awaitSuccess(id)
	wantSame(t, parts(t, out, 1), parts(t, want, 1))
	doc := e.job(id)
	tries := reduces()
	if len(tries) != 2 || tries[0].Tasknode != "first" || tries[1].Tasknode != "second" || tries[1].State != report.Succeeded {
		t.Errorf("attempts at the reduce: %+v", tries)
	}
	if len(doc.Failures) > 0 {
		t.Errorf("failures: %+v", doc.Failures)
	}
	if groups := doc.Counters["Map-Reduce Framework"]["Reduce input groups"]; groups == 0 || groups != doc.Counters["Map-Reduce Framework"]["Reduce output records"] {
		t.Errorf("counters %v", doc.Counters)
	}
}
