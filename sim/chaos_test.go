package sim

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// chaos is a policy that preempts random attempts, in any mode, during the first minutes of
// a run.
type chaos struct {
	sched.Policy
	seed uint64
	now  int64
}

const (
	chaosPeriod = 1500    // ms
	chaosEnd    = 120_000 // ms
)

func (c *chaos) Decide(now int64, view sched.View) sched.Plan {
	plan := c.Policy.Decide(now, view)
	if now >= c.next() && now < epoch+chaosEnd {
		c.now = now
		plan.Preempts = append(plan.Preempts, c.preempts(view, plan)...)
	}
	return plan
}

// next returns the time of the next preemptions.
func (c *chaos) next() int64 { return (c.now/chaosPeriod + 1) * chaosPeriod }

func (c *chaos) preempts(view sched.View, plan sched.Plan) (preempts []sched.Preempt) {
	taken := make(map[cluster.AttemptID]bool)
	for _, p := range plan.Preempts {
		taken[p.Attempt] = true
	}
	modes := []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}
	for m := range view.Machines() {
		for n, a := range m.Attempts {
			x := hashOf(c.seed, m.Name, int(c.now), n)
			if a.State == cluster.AttemptRunning && !taken[a.ID] && x%3 == 0 {
				preempts = append(preempts, sched.Preempt{Attempt: a.ID, Mode: modes[x/3%4], Cause: "chaos"})
			}
		}
	}
	return preempts
}

func (c *chaos) NextWake() int64 {
	if c.now >= epoch+chaosEnd-chaosPeriod {
		return c.Policy.NextWake()
	}
	return sched.Earliest(c.Policy.NextWake(), c.next())
}

// TestChaos checks that every mode occurs and that all work counts once.
func TestChaos(t *testing.T) {
	cfg := configOf(3, 3, 2)
	cfg.Policy, cfg.CheckInvariants, cfg.Tasks = &chaos{Policy: new(fifo.Policy), seed: 1}, true, true
	cfg.Costs.TaskBytes, cfg.Costs.MemoryShort = 1e8, true
	var jobs []workload.Job
	for n := range 5 {
		jobs = append(jobs, jobOf(fmt.Sprint("j", n), 0, 10, 3, 20_000))
	}
	r, err := Run(t.Context(), cfg, workloadOf(jobs...))
	must.Do(t, err)
	modes := byMode(r)
	if len(modes) != 4 || modes[preempt.Kill].Lost == 0 || modes[preempt.Split].Conserved == 0 || modes[preempt.Checkpoint].Conserved == 0 || modes[preempt.Suspend].Conserved == 0 {
		t.Errorf("%+v", modes)
	}
	for mode, cost := range modes {
		if (cost.Lost > 0) != (mode == preempt.Kill) && mode != preempt.Split || (cost.Conserved > 0) != (mode != preempt.Kill) {
			t.Errorf("%s: %+v", mode, cost)
		}
	}
}
