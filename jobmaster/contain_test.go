package jobmaster_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// panickyPolicy is fifo, and panics in as many decisions as a test asks for.
type panickyPolicy struct {
	fifo.Policy
	decisions atomic.Int64 // how many more decisions panic
}

func (p *panickyPolicy) Decide(now int64, v sched.View) sched.Plan {
	if p.decisions.Add(-1) >= 0 {
		panic("policy")
	}
	return p.Policy.Decide(now, v)
}

func (p *panickyPolicy) Explain(int64, sched.View, *cluster.Job) []sched.Detail { panic("explain") }

// withPanicky runs a test on a cluster of one master whose policy panics.
func withPanicky(t *testing.T, decisions int64, play func(w *testCluster)) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, 0)
		w.configure = func(cfg *jobmaster.Config) {
			cfg.Policy = func(string, map[string]string) (sched.Policy, error) {
				p := new(panickyPolicy)
				p.decisions.Store(decisions)
				return p, nil
			}
		}
		w.addMaster()
		defer w.close()
		w.elect(0)
		play(w)
	})
}

// TestPanickingPolicyIsReplacedByFIFO runs jobs under a policy that always panics.
func TestPanickingPolicyIsReplacedByFIFO(t *testing.T) {
	withPanicky(t, 1<<60, func(w *testCluster) {
		w.addTasknode("a", 2, 1)
		w.wantDone(w.submit(4, 2))
	})
}

// TestRequestThatPanicsIsAnswered explains a job under a policy that cannot. The request gets
// an error, and the job is not affected.
func TestRequestThatPanicsIsAnswered(t *testing.T) {
	withPanicky(t, 0, func(w *testCluster) {
		id := w.submit(4, 2)
		_, err := w.leader().Explain(w.ctx, id, "")
		if err == nil || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("explaining: %v", err)
		}
		w.addTasknode("a", 2, 1)
		w.wantDone(w.mustRun(id))
	})
}

// mustRun returns the id of a job that is not over.
func (w *testCluster) mustRun(id string) string {
	w.t.Helper()
	if s, err := w.leader().Job(w.ctx, id, false); err != nil || s.State > wire.JobState_RUNNING {
		w.t.Fatalf("%v, %v", s, err)
	}
	return id
}

// TestPoisonedEntryIsNoObstacle commits a command whose Apply panics. The leader, a follower and
// a master that applies the log from its beginning run on.
func TestPoisonedEntryIsNoObstacle(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 1)
		id := w.submit(4, 2)
		synctest.Wait()
		w.mu.Lock()
		w.commit([]cluster.Entry{{At: 1, Command: (*cluster.KillJob)(nil)}})
		w.mu.Unlock()
		synctest.Wait()
		w.elect(1)
		synctest.Wait()
		w.elect(-1) // nothing is committed until the new master has the log
		synctest.Wait()
		w.addMaster()
		w.replay(2)
		w.elect(2)
		synctest.Wait()
		w.wantDone(w.mustRun(id))
		if got := w.attempts(); strings.Contains(got, "_1 ") {
			t.Errorf("attempts were %s", got)
		}
	})
}
