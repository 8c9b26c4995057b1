package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// applied follows one change of the state: what machines are to hear, what the
// body has to do, whom to watch.
func (c *Controller) applied(now int64, delta cluster.Delta) {
	c.decide, c.migrations.due = true, true
	c.policy.Observe(now, c.policyView(), delta)
	for _, id := range delta.Started {
		c.orderStart(now, id)
	}
	for _, id := range delta.Ended {
		c.timeouts.remove(id)
		c.reported.progress.forget(id)
		if _, _, t, ok := c.view.Task(id.Task); ok {
			c.reported.fetches.dropEnded(t)
		}
	}
	for _, name := range delta.Machines {
		delete(c.reported.headrooms, name) // one that has joined tells it anew
		c.stranded.due = sched.Earliest(c.stranded.due, now)
	}
	for _, id := range delta.OrdersChanged {
		c.orderChange(id)
		c.updateTimeout(now, id)
	}
	c.noteSuspended(delta.OrdersChanged)
	for _, id := range delta.Revoked {
		c.noteOutputLost(id.Task.Job)
	}
	for _, id := range delta.Jobs {
		c.slow.update(id, c.view.Job(id))
		c.updateJobTimeouts(now, id)
		c.reported.fetches.forget(id, c.view.Job(id))
		c.trace.forget(id, c.view.Job(id))
	}
	jobs := slices.Clone(delta.Jobs)
	for _, id := range delta.Freed {
		if c.view.Job(id.Task.Job).Occupied == 0 {
			jobs = append(jobs, id.Task.Job)
		}
	}
	slices.SortFunc(jobs, cluster.JobID.Compare)
	for _, id := range slices.Compact(jobs) {
		c.work(id)
	}
}

func (c *Controller) orderStart(now int64, id cluster.AttemptID) {
	j, _, a, ok := c.view.Attempt(id)
	if !ok || !a.Active() {
		return
	}
	c.order(a, Order{Kind: OrderStart})
	c.timeouts.add(now, id, j.Spec.TimeoutMillis)
}

// orderChange tells a machine what is wanted of an attempt that it runs.
func (c *Controller) orderChange(id cluster.AttemptID) {
	_, t, a, ok := c.view.Attempt(id)
	switch {
	case !ok || !a.OnMachine():
	case !a.Active():
		c.order(a, Order{Kind: OrderKill, Cause: a.Cause})
	case a.Suspended():
		c.order(a, Order{Kind: OrderSuspend})
	case a.Preempting():
		c.orderResume(a)
		c.order(a, Order{Kind: OrderPreempt, Mode: a.PreemptMode})
	case a.Range != t.Range:
		c.orderResume(a)
		c.order(a, Order{Kind: OrderTruncate, Position: t.Range.End})
	default:
		c.orderResume(a)
	}
}

// orderResume has an attempt go on that may stand still.
func (c *Controller) orderResume(a *cluster.Attempt) {
	if a.SuspendedAt > 0 {
		c.order(a, Order{Kind: OrderResume})
	}
}

// updateTimeout stops the clock of an attempt that stands still, and winds it up
// when it goes on.
func (c *Controller) updateTimeout(now int64, id cluster.AttemptID) {
	_, _, a, ok := c.view.Attempt(id)
	switch {
	case !ok || !a.Active() || a.SuspendedAt == 0:
	case a.Suspended():
		c.timeouts.remove(id)
	default:
		c.startTimeout(now, a)
	}
}

func (c *Controller) order(a *cluster.Attempt, o Order) {
	o.Machine, o.Attempt, o.Job = a.Machine, a.ID, a.ID.Task.Job
	c.out.Orders = append(c.out.Orders, o)
}

// repeatOrders tells a machine everything that it should be doing.
func (c *Controller) repeatOrders(machine string) {
	m := c.view.Machine(machine)
	if m == nil {
		return
	}
	for _, a := range m.Attempts {
		if a.Active() {
			c.order(a, Order{Kind: OrderStart})
		}
		c.orderChange(a.ID)
	}
}

// repeatStarts tells of a job's running attempts again: without the splits, no
// start order for a map could be given.
func (c *Controller) repeatStarts(id cluster.JobID) {
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			if a.ID.Task.Job == id && a.Active() {
				c.order(a, Order{Kind: OrderStart})
				c.orderChange(a.ID)
			}
		}
	}
}

// work says what the body has to do for a job in its present state. Output is
// touched only when no attempt can be writing any more.
func (c *Controller) work(id cluster.JobID) {
	j := c.view.Job(id)
	switch {
	case j.State == cluster.JobPrep:
		c.out.Work = append(c.out.Work, Work{WorkSetUp, id})
	case j.State == cluster.JobCommitting && j.Occupied == 0:
		c.out.Work = append(c.out.Work, Work{WorkCommit, id})
	case j.State == cluster.JobAborting && j.Occupied == 0:
		c.out.Work = append(c.out.Work, Work{WorkCleanUp, id})
	case j.State.Final():
		for _, m := range machinesOf(j) {
			c.out.Orders = append(c.out.Orders, Order{Kind: OrderRemoveJob, Machine: m, Job: id})
		}
	}
}

// machinesOf are the names of the machines on which something of a job has run,
// ascending.
func machinesOf(j *cluster.Job) []string {
	been := make(map[string]bool)
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			for _, a := range t.Attempts {
				been[a.Machine], been[a.DataMachine()] = true, true
			}
		}
	}
	return slices.Sorted(maps.Keys(been))
}
