package jobmaster_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/storage"
)

// retire runs other jobs until no master has the job in its state.
func (w *testCluster) retire(id string) {
	w.t.Helper()
	for n := range 2 {
		spec := w.another(1, 0)
		spec.Sequence, spec.OutputDir = spec.Sequence+uint64(n), ""
		w.wantSucceeded(w.submitSpec(spec))
	}
	w.sleep(time.Second)
	left, err := w.leader().Jobs(w.ctx, true)
	if err != nil || len(left) != 2 || left[0].JobId == id {
		w.t.Fatalf("jobs left are %v, %v", left, err)
	}
}

// TestExplainFinishedJobs preempts one of three maps, which share two slots, and
// explains the job before and after it is retired.
func TestExplainFinishedJobs(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 1)
		id := w.submit(3, 1)
		w.sleep(500 * time.Millisecond)
		if mode, err := w.leader().PreemptAttempt(w.ctx, "attempt_1_0001_m_000001_0", preempt.Kill); err != nil {
			t.Fatal(mode, err)
		}
		w.wantSucceeded(id)
		e := w.explain(id, "task_1_0001_m_000001")
		w.wantReasons("it", e.Reasons, "it is over")
		if e.State != "SUCCEEDED" || e.Finish <= e.Submit || e.Submit == 0 || e.Policy != "" || len(e.Details) > 0 {
			t.Errorf("explained as %v", e)
		}
		p := e.Stages[0].Past
		if p.MapSlots != 1 || p.ReduceSlots != 0 || p.Attempts != 4 || p.Preempted != 1 || len(p.Tasknodes) != 1 || p.Tasknodes[0].Name != "a" || p.Tasknodes[0].Attempts != 4 {
			t.Errorf("maps had %v", p)
		}
		// Three attempts ran for a second and one for half a second, in two slots.
		if n := p.Tasknodes[0].SlotMillis; n < 3400 || n > 3700 || p.WaitedMillis < 500 || p.LongestWaitMillis < 500 || p.LongestWaitTask == "" {
			t.Errorf("maps held slots for %d ms and waited for %d, at most %d: %s", n, p.WaitedMillis, p.LongestWaitMillis, p.LongestWaitTask)
		}
		if r := e.Stages[1]; r.Code != "r" || len(r.Reads) != 1 || r.Reads[0] != e.Stages[0].Name || len(e.Stages[0].Reads) != 0 {
			t.Errorf("stage %q reads %v, the first one %v", r.Code, r.Reads, e.Stages[0].Reads)
		}
		if r := e.Stages[1]; r.Past.ReduceSlots != 1 || r.Past.Attempts != 1 || r.Finished != 1 || r.Slot != "reduce" {
			t.Errorf("reduces had %v", r)
		}
		if len(e.Taken) != 1 || e.Taken[0].State != "PREEMPTED" || e.Taken[0].Cause == "" || e.Taken[0].Tasknode != "a" {
			t.Errorf("taken: %v", e.Taken)
		}
		w.wantReasons("the map", e.Task.Reasons, "attempt_1_0001_m_000001_1 finished it on a")
		if len(e.Task.Attempts) != 2 || e.Task.Attempts[1].Start < e.Task.Attempts[0].Since {
			t.Errorf("attempts: %v", e.Task.Attempts)
		}
		w.retire(id)
		if again := w.explain(id, "task_1_0001_m_000001"); !reflect.DeepEqual(again, e) {
			t.Errorf("from its history it is explained as %v, want %v", again, e)
		}
		if _, err := w.leader().Explain(w.ctx, id, "task_1_0001_m_000009"); !errors.Is(err, cluster.ErrUnknown) {
			t.Errorf("a task that it has not: %v", err)
		}
	})
}

// TestExplainTasksThatNeverRan kills a job with one slot for two maps.
func TestExplainTasksThatNeverRan(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(2, 1)
		w.sleep(500 * time.Millisecond)
		must.Do(t, w.leader().Kill(w.ctx, id, "enough"))
		w.wait(id)
		for task, want := range map[string]string{
			"task_1_0001_m_000000": "its job ended before it finished, after 1 attempts",
			"task_1_0001_m_000001": "it never had a slot: its job ended first",
			"task_1_0001_r_000000": "it never had a slot: its job ended before its input was complete",
		} {
			w.wantReasons(task, w.explain(id, task).Task.Reasons, want)
		}
		e := w.explain(id, "")
		if p := e.Stages[0].Past; p.LongestWaitTask != "task_1_0001_m_000001" || p.LongestWaitMillis < 400 || e.Cause != "enough" || e.State != "KILLED" {
			t.Errorf("explained as %v", e)
		}
		if p := e.Stages[1].Past; p.WaitedMillis != 0 || p.LongestWaitTask != "" || p.Attempts != 0 {
			t.Errorf("reduces had %v", p)
		}
	})
}

// TestExplainWithoutStages explains a job without a history, and then by a history without stages.
func TestExplainWithoutStages(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(1, 1)
		s := w.wait(id)
		w.retire(id)
		must.Do(t, w.fs.Remove(w.ctx, "/history/2000-01-01", true))
		_, err := w.leader().Explain(w.ctx, id, "")
		if !errors.Is(err, cluster.ErrUnknown) || !strings.Contains(err.Error(), "was removed; histories are kept for 24h0m0s (--retention)") {
			t.Errorf("without a history: %v", err)
		}
		s.Stages = nil
		w.writeHistory("/history/2000-01-01/job_1_0001.jsonl.zst", s)
		e := w.explain(id, "task_1_0001_r_000000")
		if len(e.Stages) != 2 || e.Stages[1].Name != "reduce" || e.Stages[1].Past.ReduceSlots != 0 || e.Stages[1].Past.Tasknodes[0].Name != "a" || e.Task.Stage != "reduce" {
			t.Errorf("explained as %v", e)
		}
	})
}

// writeHistory writes a history to a file.
func (w *testCluster) writeHistory(name string, s *wire.JobStatus) {
	w.t.Helper()
	var text bytes.Buffer
	must.Do(w.t, history.Encode(&text, &history.Job{Status: s}))
	f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
	must.Do(w.t, err)
	if _, err := f.Write(text.Bytes()); err != nil {
		w.t.Fatal(err)
	}
	must.Do(w.t, f.Close())
}
