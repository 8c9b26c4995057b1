package jobmaster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestTasknodeIsExcluded excludes one of two tasknodes during a job.
func TestTasknodeIsExcluded(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		w.addTasknode("b", 1, 1)
		id := w.submit(4, 1)
		w.sleep(500 * time.Millisecond)
		m := w.leader()
		if err := m.AdmitTasknode(w.ctx, "c", true); !errors.Is(err, cluster.ErrUnknown) {
			w.t.Errorf("a tasknode that is not there: %v", err)
		}
		must.Do(w.t, m.AdmitTasknode(w.ctx, "a", true))
		state := func() string {
			nodes, err := m.Tasknodes(w.ctx)
			if err != nil || len(nodes) != 2 || nodes[0].MapSlots != 1 {
				w.t.Fatalf("nodes are %v, %v", nodes, err)
			}
			return nodes[0].State
		}
		if got := state(); got != "DECOMMISSIONING" {
			w.t.Errorf("while it works it is %s", got)
		}
		w.wantSucceeded(id)
		if got := state(); got != "DECOMMISSIONED" {
			w.t.Errorf("after its work it is %s", got)
		}
		s, err := m.Job(w.ctx, id, true)
		must.Do(w.t, err)
		ran := make(map[string]int)
		for _, task := range s.Tasks {
			if len(task.Attempts) != 1 {
				w.t.Errorf("%s was tried %d times", task.Id, len(task.Attempts))
			}
			ran[task.Attempts[0].Machine]++
		}
		if ran["a"] != 1 {
			w.t.Errorf("tasks by tasknode: %v", ran)
		}
		if err := m.AdmitTasknode(w.ctx, "a", false); err != nil || state() != "RUNNING" {
			w.t.Errorf("taken back it is %s, %v", state(), err)
		}
	})
}
