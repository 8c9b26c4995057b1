package control

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Other machines copy the output that lies on a drained machine and is needed, and the
// checkpoints from which tasks may resume. The list of running copies is soft state: a new
// leader orders them again, and a machine that has made a copy already reports it at once.
const (
	// maxCopies is how many copies a machine makes at the same time.
	maxCopies = 4
	// copyRetry is the time after which a failed copy is tried again, ms.
	copyRetry = 1000
	// slotPatience is how long a checkpointed task waits for a slot before its checkpoint is
	// copied, ms. An attempt that starts elsewhere fetches the checkpoint anyway.
	slotPatience = 1000
)

// migrations lists the copies that are being made. It is rebuilt in each search, so a copy
// that is not needed any more is forgotten.
type migrations struct {
	due       bool                            // a search is due: something has changed since the last search
	byAttempt map[cluster.AttemptID]migration // by the attempt whose output or checkpoint is copied
	wake      int64                           // when to search again, ms since the epoch; 0 for "when something has changed"
}

// migration is a copy that a machine makes, or failed to make.
type migration struct {
	to     string // machine that makes the copy; "" if it failed
	failed string // machine on which it failed, "" for none
	retry  int64  // when the copy is tried again, ms since the epoch; 0 for never
}

// forget drops the copies of a machine that may have missed its orders.
func (m *migrations) forget(machine string) {
	for id, move := range m.byAttempt {
		if move.to == machine {
			delete(m.byAttempt, id)
		}
	}
	m.due = true
}

// evacuate orders copies of the output and the checkpoints on drained machines. It first
// finds the copies that are still being made, and then spreads the others over the machines.
func (c *Controller) evacuate(now int64) {
	due := c.migrations.due || c.migrations.wake != 0 && c.migrations.wake <= now
	if !due {
		return
	}
	before := c.migrations.byAttempt
	c.migrations = migrations{}
	var toOrder []cluster.AttemptID
	for m := range c.view.Machines() {
		if m.Draining && !m.Lost {
			toOrder = append(toOrder, c.copiesToOrder(now, m, before)...)
		}
	}
	c.orderCopies(toOrder, before)
}

// copiesToOrder returns the attempts whose output or checkpoint must be copied from a drained
// machine, and for which no copy is being made. Output of a gang that has not finished as a
// whole does not count yet, and may be written again.
func (c *Controller) copiesToOrder(now int64, m *cluster.Machine, before map[cluster.AttemptID]migration) (toOrder []cluster.AttemptID) {
	add := func(id cluster.AttemptID) {
		if !c.keepCopy(now, id, before[id]) {
			toOrder = append(toOrder, id)
		}
	}
	outputs, checkpoints := c.view.NeededOn(m)
	for _, t := range outputs {
		if j := c.view.Job(t.ID.Job); j.Published(t) && j.Loaded() {
			add(t.Winner.ID)
		}
	}
	for _, left := range checkpoints {
		if at := c.checkpointCopyDue(left); at > now {
			c.migrations.wake = sched.Earliest(c.migrations.wake, at)
		} else if at > 0 {
			add(left.Writer)
		}
	}
	return toOrder
}

// checkpointCopyDue returns the time at which a checkpoint has to be copied; 0 for never in
// the present state. A running task outside gangs has fetched its checkpoint, or is about
// to. A task of a gang may be rolled back to its checkpoint.
func (c *Controller) checkpointCopyDue(left cluster.NeededCheckpoint) int64 {
	_, stage, t, _ := c.view.Task(left.ID)
	if t.State == cluster.TaskRunning && !stage.Bundle.Gang {
		return 0
	}
	return t.Attempt(left.Writer.Number).EndedAt + slotPatience
}

// keepCopy keeps a running copy whose machine is not lost, and a failed one that is not to be
// tried again yet. It reports whether there is such a copy.
func (c *Controller) keepCopy(now int64, id cluster.AttemptID, was migration) bool {
	switch {
	case was.to != "" && c.canCopy(was.to):
	case was.failed != "" && (was.retry == 0 || was.retry > now):
		c.migrations.wake = sched.Earliest(c.migrations.wake, was.retry)
	default:
		return false
	}
	c.migrations.set(id, was)
	return true
}

// set records a copy.
func (m *migrations) set(id cluster.AttemptID, copied migration) {
	if m.byAttempt == nil {
		m.byAttempt = make(map[cluster.AttemptID]migration)
	}
	m.byAttempt[id] = copied
}

// orderCopies orders copies of outputs and checkpoints, as long as machines can make more.
func (c *Controller) orderCopies(ids []cluster.AttemptID, before map[cluster.AttemptID]migration) {
	if len(ids) == 0 {
		return
	}
	targets := c.copyTargets()
	for _, id := range ids {
		to := targets.take(before[id].failed)
		if to == "" {
			return
		}
		c.out.Orders = append(c.out.Orders, Order{Kind: OrderCopyOutput, Machine: to, Attempt: id, Job: id.Task.Job})
		c.migrations.set(id, migration{to: to})
	}
}

// canCopy reports whether a machine may make copies.
func (c *Controller) canCopy(name string) bool {
	m := c.view.Machine(name)
	return m != nil && m.TakesTasks()
}

// copyTargets are the machines that can make more copies, by the number of copies that they
// make.
type copyTargets [maxCopies][]string

// copyTargets lists the machines that can make more copies, in order of their first joining.
func (c *Controller) copyTargets() *copyTargets {
	load := make(map[string]int)
	for _, m := range c.migrations.byAttempt {
		load[m.to]++
	}
	targets := new(copyTargets)
	for m := range c.view.Machines() {
		if n := load[m.Name]; c.canCopy(m.Name) && m.Address != "" && n < maxCopies {
			targets[n] = append(targets[n], m.Name)
		}
	}
	return targets
}

// take returns the machine with the fewest copies, preferably not the machine that failed,
// and counts the copy; "" for none.
func (t *copyTargets) take(failed string) string {
	last := -1 // number of copies of the machine that failed; -1 if it is no target
	for n, names := range t {
		for i, name := range names {
			if name != failed {
				return t.takeAt(n, i)
			}
			last = n
		}
	}
	if last < 0 {
		return ""
	}
	return t.takeAt(last, slices.Index(t[last], failed))
}

// takeAt counts a copy of the i-th machine with n copies.
func (t *copyTargets) takeAt(n, i int) string {
	name := t[n][i]
	t[n] = slices.Delete(t[n], i, i+1)
	if n+1 < maxCopies {
		t[n+1] = append(t[n+1], name)
	}
	return name
}

// outputCopied points readers, or the task, to a copy. A failed copy is tried again, on
// another machine if possible, unless the original is damaged.
func (c *Controller) outputCopied(now int64, ev OutputCopied) {
	switch {
	case ev.Problem == "" && ev.Checkpoint != nil:
		at := ev.Checkpoint
		c.enqueue(cluster.MoveCheckpoint{Attempt: ev.Attempt, Machine: ev.Machine, Path: at.Path, Bytes: at.Bytes, Checksum: at.Checksum})
	case ev.Problem == "":
		c.enqueue(cluster.MoveOutput{Attempt: ev.Attempt, Machine: ev.Machine, Segments: ev.Segments})
	case c.migrations.byAttempt[ev.Attempt].to == ev.Machine:
		failed := migration{failed: ev.Machine, retry: now + copyRetry}
		if ev.Useless {
			failed.retry = 0
		}
		c.migrations.byAttempt[ev.Attempt] = failed
		c.migrations.wake = sched.Earliest(c.migrations.wake, failed.retry)
	}
}

// commandRefused makes a machine remove a copy that is not needed any more.
func (c *Controller) commandRefused(command cluster.Command) {
	switch e := command.(type) {
	case cluster.MoveOutput:
		c.discardCopy(e.Attempt, e.Machine)
	case cluster.MoveCheckpoint:
		c.discardCopy(e.Attempt, e.Machine)
	}
}

// discardCopy makes a machine remove a copy that came too late: all files of the job if
// the job is over.
func (c *Controller) discardCopy(id cluster.AttemptID, machine string) {
	j, _, a, known := c.view.Attempt(id)
	o := Order{Kind: OrderDropCopy, Machine: machine, Attempt: id, Job: id.Task.Job}
	if !known || j.State.Final() {
		o.Kind, o.Attempt = OrderRemoveJob, cluster.AttemptID{}
	} else if a.DataMachine() == machine {
		return // later checkpoints may refer to the copy
	}
	c.out.Orders = append(c.out.Orders, o)
}
