package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// replacePolicy replaces the policy. The new one may take over state of the old one.
func (c *Controller) replacePolicy(now int64, policy sched.Policy) {
	before := c.policy
	c.policy, c.decide = policy, true
	policy.Reset(now, c.policyView())
	if heir, ok := policy.(sched.StateTransfer); ok {
		heir.TransferFrom(before)
	}
}

// The following methods answer users' questions about scheduling.

// Consider returns the plan that the policy would make now, and its reasons. Nothing of it
// is proposed: the next step asks the policy again.
func (c *Controller) Consider(now int64) sched.Plan {
	c.decide = true // the call may have changed when the policy wants to wake up
	view := c.policyView()
	view.Trace = true
	return c.policy.Decide(now, view)
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
	if p, ok := c.policy.(sched.PoolReporter); ok {
		return p.Pools(now, c.policyView())
	}
	return nil
}

// Limit returns the maximum number of slots of each kind that the policy gives a job at a
// time.
func (c *Controller) Limit(j *cluster.Job) cluster.Slots {
	if p, ok := c.policy.(sched.JobLimiter); ok {
		return p.Limit(j)
	}
	return cluster.Slots{sched.Unlimited, sched.Unlimited}
}
