package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// replacePolicy puts a policy in the place of another, from which it may go on.
func (c *Controller) replacePolicy(now int64, policy sched.Policy) {
	before := c.policy
	c.policy, c.decide = policy, true
	policy.Reset(now, c.policyView())
	if heir, ok := policy.(sched.StateTransfer); ok {
		heir.TransferFrom(before)
	}
}

// What follows is for people who ask why things are as they are.

// Consider is what the policy would do now, and why. Nothing of it is proposed:
// the next step asks the policy again.
func (c *Controller) Consider(now int64) sched.Plan {
	c.decide = true // asking may have moved what the policy wakes for
	view := c.policyView()
	view.Trace = true
	return c.policy.Decide(now, view)
}

// Explain is what the policy knows of a job; nil when it does not tell.
func (c *Controller) Explain(now int64, j *cluster.Job) []sched.Detail {
	if p, ok := c.policy.(sched.Explainer); ok {
		return p.Explain(now, c.policyView(), j)
	}
	return nil
}

// Pools are those among which the policy divides the cluster; nil when it knows no
// pools.
func (c *Controller) Pools(now int64) []sched.Pool {
	if p, ok := c.policy.(sched.PoolReporter); ok {
		return p.Pools(now, c.policyView())
	}
	return nil
}

// Limit is the most slots of each kind that the policy lets a job have at a time.
func (c *Controller) Limit(j *cluster.Job) sched.Slots {
	if p, ok := c.policy.(sched.JobLimiter); ok {
		return p.Limit(j)
	}
	return sched.Slots{sched.Unlimited, sched.Unlimited}
}
