package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

func TestBuiltInPoliciesKeepTheContract(t *testing.T) {
	for _, name := range registry.Names() {
		t.Run(name, func(t *testing.T) {
			properties, err := Policy(t.Context(), Config{Runs: testlevel.Choose(2, 100), New: func(w *workload.Workload) (sched.Policy, error) {
				modes := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}
				return registry.New(name, nil, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: modes, Oracle: sim.Oracle(w)})
			}})
			must.Do(t, err)
			for _, p := range properties {
				if t.Logf("%s: %s", p.Name, p.Evidence); p.Failure != "" || p.Evidence == "" {
					t.Errorf("%s: %s", p.Name, p.Failure)
				}
			}
		})
	}
}

// broken is fifo with one mistake.
type broken struct {
	fifo.Policy
	decide  func(p *broken, now int64, view sched.View) sched.Plan
	observe func(p *broken, now int64, view sched.View, delta cluster.Delta)

	calls  int
	jobs   int // changes of jobs since the last decision
	stored map[cluster.JobID]int64
}

func (p *broken) Decide(now int64, view sched.View) sched.Plan {
	if p.calls++; p.decide != nil {
		return p.decide(p, now, view)
	}
	return p.Policy.Decide(now, view)
}

func (p *broken) Observe(now int64, view sched.View, delta cluster.Delta) {
	if p.observe != nil {
		p.observe(p, now, view, delta)
		return
	}
	p.Policy.Observe(now, view, delta)
}

// made counts the policies, so that one may differ from the next.
var made int

// release lets calls return that block.
var release = make(chan struct{})

// brokenPolicies has policies that break one property on purpose. Others may fail with it.
var brokenPolicies = []struct {
	part   int
	want   string // in the failure
	policy broken
}{
	{terminates, "a call panics: out of range, in ", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		if p.calls == 3 {
			panic("out of range")
		}
		return p.Policy.Decide(now, v)
	}}},
	{terminates, "a call has not returned after", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		if p.calls == 3 {
			<-release
		}
		return p.Policy.Decide(now, v)
	}}},
	{deterministic, "was another one", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		plan := p.Policy.Decide(now, v)
		if p.calls == 1 {
			made++
		}
		if made%2 == 0 && p.calls > 9 { // some policies think the other way round
			slices.Reverse(plan.Starts)
		}
		return plan
	}}},
	{givesOnce, "twice", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		plan := p.Policy.Decide(now, v)
		if len(plan.Starts) > 0 {
			plan.Starts = append(plan.Starts, plan.Starts[0])
		}
		return plan
	}}},
	{givesOnce, "free", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		plan := p.Policy.Decide(now, v)
		for i := range plan.Starts {
			plan.Starts[i].Machine = plan.Starts[0].Machine
		}
		return plan
	}}},
	{starvesNone, "has had no slot for", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		plan := p.Policy.Decide(now, v)
		if now < 4_500_000 {
			plan.Starts = slices.DeleteFunc(plan.Starts, func(s sched.Start) bool { return s.Task.Job.Number == 1 })
		}
		return plan
	}}},
	{idlesNot, "declares no wait", broken{decide: func(p *broken, now int64, v sched.View) sched.Plan {
		plan := p.Policy.Decide(now, v)
		if p.calls < 30 && p.calls%3 == 0 {
			plan.Starts = nil
		}
		return plan
	}}},
	{forgets, "values after 250 jobs", broken{observe: func(p *broken, now int64, v sched.View, delta cluster.Delta) {
		if p.stored == nil {
			p.stored = make(map[cluster.JobID]int64)
		}
		for _, id := range delta.Jobs {
			p.stored[id] = now
		}
		p.Policy.Observe(now, v, delta)
	}}},
	{reacts, "a policy that was reset gives", broken{jobs: 1, decide: func(p *broken, now int64, v sched.View) (plan sched.Plan) {
		if p.jobs > 0 { // changes of machines and attempts are not seen
			p.jobs--
			plan = p.Policy.Decide(now, v)
		}
		return plan
	}, observe: func(p *broken, now int64, v sched.View, delta cluster.Delta) {
		p.jobs += len(delta.Jobs)
		p.Policy.Observe(now, v, delta)
	}}},
}

func TestBrokenPoliciesFail(t *testing.T) {
	defer close(release)
	for _, c := range brokenPolicies {
		t.Run(names[c.part]+", "+c.want, func(t *testing.T) {
			properties, err := Policy(t.Context(), Config{Runs: 3, Patience: 200 * time.Millisecond, New: func(*workload.Workload) (sched.Policy, error) {
				p := c.policy
				return &p, nil
			}})
			must.Do(t, err)
			if got := properties[c.part].Failure; !strings.Contains(got, c.want) || !strings.Contains(got, ", at ") {
				t.Errorf("%q, want %q in it, of %+v", got, c.want, properties)
			}
			for i, p := range properties {
				if c.part == terminates && i != terminates && p.Evidence != "" {
					t.Errorf("%s is examined, although a call has not returned: %s", p.Name, p.Evidence)
				}
			}
		})
	}
}

func TestErrorsOfNewAndContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Policy(ctx, Config{New: func(*workload.Workload) (sched.Policy, error) { return new(fifo.Policy), nil }}); err == nil {
		t.Error("no error of a context that has ended")
	}
	if _, err := Policy(t.Context(), Config{New: func(*workload.Workload) (sched.Policy, error) { return nil, context.Canceled }}); err == nil {
		t.Error("no error of New")
	}
}
