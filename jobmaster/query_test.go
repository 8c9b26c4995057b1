package jobmaster_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
)

// TestAbandonedQueriesAreSkipped asks while the loop is busy, and gives up. The loop does not
// run the query.
func TestAbandonedQueriesAreSkipped(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		m := w.leader()
		m.Post(func() { time.Sleep(time.Second) })
		ctx, cancel := context.WithTimeout(w.ctx, 500*time.Millisecond)
		defer cancel()
		ran := false
		if err := m.Query(ctx, func() { ran = true }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller gets %v", err)
		}
		if err := m.Query(w.ctx, func() {}); err != nil || ran {
			t.Errorf("a later query gets %v; the abandoned one ran: %v", err, ran)
		}
	})
}

// TestTasknodeByName describes one tasknode, even if it is lost.
func TestTasknodeByName(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		crash := w.addTasknode("a", 2, 1)
		w.sleep(time.Second)
		if n, err := w.leader().Tasknode(w.ctx, "a"); err != nil || n.State != "RUNNING" || n.MapSlots != 2 {
			t.Errorf("%v, %v", n, err)
		}
		crash()
		w.sleep(w.expiry + time.Second)
		if n, err := w.leader().Tasknode(w.ctx, "a"); err != nil || n.State != "LOST" {
			t.Errorf("%v, %v", n, err)
		}
		if _, err := w.leader().Tasknode(w.ctx, "b"); !errors.Is(err, cluster.ErrUnknown) {
			t.Errorf("of an unknown tasknode: %v", err)
		}
	})
}
