package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// policyView is the view for the policy.
func (c *Controller) policyView() sched.View {
	return sched.View{View: c.view, SoftState: c.softState, Trace: c.trace.on}
}

// plan asks the policy for a plan and turns it into commands. Tasks of a job whose splits
// are not loaded yet wait for the next change.
func (c *Controller) plan(now int64) {
	plan := c.policy.Decide(now, c.policyView())
	c.traceDecisions(now, plan)
	for _, p := range plan.Preempts {
		if p.Mode != preempt.Wait {
			c.enqueue(cluster.PreemptAttempt{Attempt: p.Attempt, Mode: p.Mode, Cause: p.Cause})
		}
	}
	for _, id := range plan.Resumes {
		c.enqueue(cluster.ResumeAttempt{Attempt: id})
	}
	for _, b := range plan.BundleResumes {
		c.enqueue(cluster.ResumeAttempt{Attempt: b.Attempts[0]}) // resumes the whole bundle
	}
	for _, s := range plan.Starts {
		if start, ok := c.startOf(s); ok {
			c.enqueue(start)
		}
	}
	for _, b := range plan.Bundles {
		command := cluster.StartBundle{Job: b.Job, Class: b.Class, Number: b.Number}
		for _, s := range b.Starts {
			if start, ok := c.startOf(s); ok {
				command.Starts = append(command.Starts, start)
			}
		}
		if len(command.Starts) == len(b.Starts) {
			c.enqueue(command)
		}
	}
	c.breakDeadlocks(now)
	c.moveStranded(now, plan)
}

func (c *Controller) startOf(s sched.Start) (cluster.StartAttempt, bool) {
	j, _, t, ok := c.view.Task(s.Task)
	if !ok || !j.Loaded() {
		return cluster.StartAttempt{}, false
	}
	return cluster.StartAttempt{Task: s.Task, Machine: s.Machine, Range: j.RangeOf(t), Local: s.Local, RackLocal: s.RackLocal}, true
}

// replacePolicy replaces the policy. The new one may take over state of the old one.
func (c *Controller) replacePolicy(now int64, policy sched.Policy) {
	before := c.policy
	c.policy, c.decide = policy, true
	policy.Reset(now, c.policyView())
	if heir, ok := policy.(sched.StateTransfer); ok {
		heir.TransferFrom(before)
	}
}

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
