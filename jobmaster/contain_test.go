package jobmaster_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
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
		if got := w.policy().Problem; !strings.HasPrefix(got, "fifo decides: policy fifo has panicked: policy; 'hammr scheduler set fifo' tries it again") {
			t.Errorf("the policy has the problem %q", got)
		}
		must.Do(t, w.leader().SetPolicy(w.ctx, "other", nil))
		synctest.Wait()
		if got := w.policy().Problem; !strings.Contains(got, "policy other has panicked") {
			t.Errorf("the policy, set again, has the problem %q", got)
		}
	})
}

// doublingPolicy is fifo, and plans each start twice.
type doublingPolicy struct{ fifo.Policy }

func (p *doublingPolicy) Decide(now int64, v sched.View) sched.Plan {
	plan := p.Policy.Decide(now, v)
	plan.Starts = append(plan.Starts, plan.Starts...)
	return plan
}

// TestMastersWithoutThePolicy changes the policy to one that the program of the next leader lacks, or
// that it cannot make. The next leader uses fifo and says so. The policy is in use again under a leader that
// has it. Jobs run under each of them, also while the policy plans each start twice.
func TestMastersWithoutThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, 0)
		defer w.close()
		for _, program := range []string{"whole", "lacks", "panics"} {
			w.configure = func(cfg *jobmaster.Config) {
				cfg.Policy = func(name string, conf map[string]string) (sched.Policy, error) {
					switch {
					case name != "mine":
						return policyNamed(name, conf)
					case program == "lacks":
						return nil, errors.New(`policy "mine": not one of fair, fifo`)
					case program == "panics":
						panic("no weights")
					}
					return new(doublingPolicy), nil
				}
			}
			w.addMaster()
		}
		w.addTasknode("a", 2, 1)
		for i, problem := range []string{"", `policy "mine": not one of fair, fifo; restart the masters with a program that has the policy`, "fifo decides: policy mine cannot be made: no weights"} {
			w.elect(i)
			synctest.Wait()
			if i == 0 {
				must.Do(t, w.leader().SetPolicy(w.ctx, "mine", nil))
			}
			spec := w.spec(4, 2)
			spec.Sequence, spec.OutputDir = uint64(i+1), fmt.Sprintf("mem:///out%d", i)
			w.wantSucceeded(w.submitSpec(spec))
			if got := w.policy(); got.Policy != "mine" || (got.Problem == "") != (problem == "") || !strings.Contains(got.Problem, problem) {
				t.Errorf("under master %d the policy is %s with the problem %q, want %q", i, got.Policy, got.Problem, problem)
			}
		}
		err := w.leader().SetPolicy(w.ctx, "mine", nil)
		if err == nil || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("a policy that cannot be made is set: %v", err)
		}
		must.Do(t, w.leader().SetPolicy(w.ctx, "fair", nil))
		synctest.Wait()
		if got := w.policy(); got.Policy != "fair" || got.Problem != "" {
			t.Errorf("another policy: %+v", got)
		}
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
