package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// applied follows up one change of the state with orders for machines, work for the body,
// and timeouts.
func (c *Controller) applied(now int64, delta cluster.Delta) {
	c.decide, c.migrations.due = true, true
	c.ask(func(p sched.Policy) { p.Observe(now, c.policyView(), delta) })
	for _, id := range delta.Started {
		if _, _, a, ok := c.view.Attempt(id); ok && c.begin(id.Task.Job) && a.Active() {
			c.order(a, Order{Kind: OrderStart})
			c.startTimeout(now, a)
		}
	}
	for _, id := range delta.Ended {
		c.begin(id.Task.Job)
		c.timeouts.remove(id)
		c.reported.progress.forget(id)
		if _, _, t, ok := c.view.Task(id.Task); ok {
			c.reported.fetches.dropEnded(t)
		}
	}
	for _, name := range delta.Machines {
		delete(c.reported.headrooms, name) // a machine that has joined reports its headroom again
		c.stranded.due = sched.Earliest(c.stranded.due, now)
	}
	for _, id := range delta.OrdersChanged {
		if _, _, a, ok := c.view.Attempt(id); ok && c.begin(id.Task.Job) {
			c.orderChange(a)
			c.updateTimeout(now, a)
			c.noteSuspended(a)
		}
	}
	for _, id := range delta.Revoked {
		if _, lost := c.outputLost.due[id.Task.Job]; !lost {
			c.outputLost.due[id.Task.Job] = 0
		}
	}
	for _, id := range delta.Jobs {
		c.begin(id)
		c.slow.update(id, c.view.Job(id))
		c.updateJobTimeouts(now, id)
		c.outagePauses.update(id, c.view.Job(id))
		c.reported.fetches.forget(id, c.view.Job(id))
		c.trace.forget(id, c.view.Job(id))
	}
	jobs := slices.Clone(delta.Jobs)
	for _, id := range delta.Freed {
		if j := c.view.Job(id.Task.Job); j != nil && j.Occupied == 0 {
			jobs = append(jobs, id.Task.Job)
		}
	}
	slices.SortFunc(jobs, cluster.JobID.Compare)
	for _, id := range slices.Compact(jobs) {
		if c.view.Job(id) != nil && c.begin(id) { // a later command of the batch may have retired it
			c.work(id)
		}
	}
}

// orderChange sends the order that follows from an attempt's state. A suspended process is
// resumed first: it could not obey otherwise.
func (c *Controller) orderChange(a *cluster.Attempt) {
	_, _, t, _ := c.view.Task(a.ID.Task)
	switch {
	case !a.OnMachine():
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

// orderResume resumes an attempt that may be suspended.
func (c *Controller) orderResume(a *cluster.Attempt) {
	if a.SuspendedAt > 0 {
		c.order(a, Order{Kind: OrderResume})
	}
}

// order sends an order about an attempt to its machine. No master records that an order was
// sent. A repeated order changes nothing, and repeatOrders sends all orders again when
// needed.
func (c *Controller) order(a *cluster.Attempt, o Order) {
	o.Machine, o.Attempt, o.Job = a.Machine, a.ID, a.ID.Task.Job
	c.out.Orders = append(c.out.Orders, o)
}

// repeatOrders sends a machine all orders that follow from the state, after it has
// connected. The machine may have missed orders of an earlier leader.
func (c *Controller) repeatOrders(machine string) {
	m := c.view.Machine(machine)
	if m == nil {
		return
	}
	for _, a := range m.Attempts {
		if !c.begin(a.ID.Task.Job) {
			continue
		}
		if a.Active() {
			c.order(a, Order{Kind: OrderStart})
		}
		c.orderChange(a)
	}
}

// repeatStarts sends the start orders of a job's active attempts again: before the splits
// were loaded, maps could not be started.
func (c *Controller) repeatStarts(id cluster.JobID) {
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			if a.ID.Task.Job == id && a.Active() {
				c.order(a, Order{Kind: OrderStart})
				c.orderChange(a)
			}
		}
	}
}

// work returns what the body has to do for a job in its state. It touches output only when
// no attempt can still write.
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

// machinesOf returns the names of the machines that may have files of a job, ascending.
func machinesOf(j *cluster.Job) []string {
	been := make(map[string]bool)
	for _, a := range j.Attempts() {
		been[a.Machine], been[a.DataMachine()] = true, true
	}
	return slices.Sorted(maps.Keys(been))
}
