package jobmaster_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestPriorityOfAJobThatRetiresInTheSameBatch commits batches in which a job that is over gets a
// priority and retires. Every master applies them and leads afterwards.
func TestPriorityOfAJobThatRetiresInTheSameBatch(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("n", 1, 1)
		first, second := w.submit(1, 0), w.submitSpec(w.another(1, 0))
		w.wantSucceeded(first)
		w.wantSucceeded(second)
		w.sleep(w.expiry)
		if err := w.leader().SetPriority(w.ctx, first, 1); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("priority of a job that is over: %v", err)
		}
		for n, id := range []string{first, second} {
			job, err := cluster.ParseJobID(id)
			must.Do(t, err)
			priority, retire := cluster.Entry{Command: cluster.SetPriority{Job: job, Priority: 1}}, cluster.Entry{Command: cluster.RetireJob{Job: job}}
			w.mu.Lock()
			w.commit([][]cluster.Entry{{priority, retire, priority}, {retire, priority}}[n])
			w.mu.Unlock()
			synctest.Wait()
			if err := w.leader().SetPriority(w.ctx, id, 1); !errors.Is(err, cluster.ErrRetired) {
				t.Errorf("priority of a job that is retired: %v", err)
			}
			w.elect(1 - n)
			next := w.another(1, 0)
			next.Sequence, next.OutputDir = uint64(3+n), []string{"mem:///3", "mem:///4"}[n]
			w.wantSucceeded(w.submitSpec(next))
		}
		w.copyState(0, 1)
	})
}
