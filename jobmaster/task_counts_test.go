package jobmaster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// countsOf returns the counters of the tasks of a status, by task and name.
func countsOf(s *wire.JobStatus) map[string]map[string]int64 {
	all := make(map[string]map[string]int64)
	for _, t := range s.Tasks {
		all[t.Id] = make(map[string]int64)
		for i, n := range t.Counts {
			all[t.Id][s.CounterNames[i].Name] = n
		}
	}
	return all
}

// TestTasksHaveTheirCounters reads them from the state and then from the history.
func TestTasksHaveTheirCounters(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.counted = []*taskproc.Counter{{Group: "Words", Name: "long", Value: 5}, {Group: "Words", Name: "short", Value: 7}}
		w.elect(0)
		w.addTasknode("a", 2, 2)
		id := w.submit(2, 1)
		w.wait(id)
		each := map[string]int64{"long": 5, "short": 7}
		want := map[string]map[string]int64{"task_1_0001_m_000000": each, "task_1_0001_m_000001": each, "task_1_0001_r_000000": each}
		for _, from := range []string{"the state", "the history"} {
			s, err := w.leader().Job(w.ctx, id, true)
			must.Do(t, err)
			if diff := cmp.Diff(want, countsOf(s)); diff != "" {
				t.Errorf("from %s:\n%s", from, diff)
			}
			if s, err = w.leader().Job(w.ctx, id, false); err != nil || s.CounterNames != nil {
				t.Errorf("without tasks, from %s: %v, %v", from, s.CounterNames, err)
			}
			w.sleep(time.Minute) // the job is archived
		}
	})
}
