package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// policyView returns the view for the policy.
func (c *Controller) policyView() sched.View {
	return sched.View{View: c.view, SoftState: c.softState, Trace: c.trace.on}
}

// plan asks the policy for a plan and makes its commands pending. Then it handles two cases
// that policies do not handle: deadlocks of readers, and suspended attempts on full
// machines.
//
// The plan may use capacity that the pending commands free.
func (c *Controller) plan(now int64, freeing map[string]cluster.Capacity) {
	view := c.policyView()
	view.View = view.Freeing(now, freeing)
	var plan sched.Plan
	c.ask(func(p sched.Policy) { plan = p.Decide(now, view) })
	c.deferred = plan.Deferred
	c.traceDecisions(now, plan)
	for _, command := range plan.Commands(c.view) {
		c.enqueue(command)
	}
	c.breakDeadlocks(now)
	c.moveStranded(now, plan)
}

// replacePolicy replaces the policy. The new one may adopt soft state of the old one.
func (c *Controller) replacePolicy(now int64, policy sched.Policy) {
	before := c.policy
	c.policy, c.decide = policy, true
	c.ask(func(p sched.Policy) {
		p.Reset(now, c.policyView())
		if successor, ok := p.(sched.StateTransfer); ok {
			successor.TransferFrom(before)
		}
	})
}

// Consider returns the plan that the policy would make now, and its reasons. The plan is not
// proposed: the next step asks the policy again.
func (c *Controller) Consider(now int64) sched.Plan {
	c.decide = true // the call may have changed when the policy wants to wake up
	view := c.policyView()
	view.Trace = true
	return c.policy.Decide(now, view)
}

// Preview returns the plan that another policy would make now if it replaced the present one, and
// its pools. Nothing changes. A successor would adopt soft state of the present policy; the preview
// does not, since the two must share none.
func (c *Controller) Preview(now int64, policy sched.Policy) (sched.Plan, []sched.Pool) {
	policy.Reset(now, c.policyView())
	plan := policy.Decide(now, c.policyView())
	return plan, sched.PoolsOf(policy, now, c.policyView())
}

// Deferred returns Plan.Deferred of the latest decision.
func (c *Controller) Deferred() []sched.StageWait { return c.deferred }

// WaitClass returns why the policy gives a job no slots of a kind, as a sched.WaitClassifier does. It is
// NotWaiting if the policy panics, because the caller asks for each job, and no job is the cause.
func (c *Controller) WaitClass(j *cluster.Job, kind cluster.Slot) (class sched.WaitClass) {
	defer func() {
		if recover() != nil {
			class = sched.NotWaiting
		}
	}()
	return sched.WaitClassOf(c.policy, j, kind)
}

// Explain returns what the policy knows of a job; nil if it explains nothing.
func (c *Controller) Explain(now int64, j *cluster.Job) []sched.Detail {
	if p, ok := c.policy.(sched.Explainer); ok {
		return p.Explain(now, c.policyView(), j)
	}
	return nil
}

// Pools returns the pools among which the policy divides the cluster; nil if it has none.
func (c *Controller) Pools(now int64) []sched.Pool {
	return sched.PoolsOf(c.policy, now, c.policyView())
}

// Limit returns the maximum number of slots of each kind that the policy gives a job at a
// time.
func (c *Controller) Limit(j *cluster.Job) cluster.Slots {
	return sched.LimitOf(c.policy, j)
}
