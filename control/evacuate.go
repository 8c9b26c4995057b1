package control

import (
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

// evacuate orders copies of the output and the checkpoints on drained machines.
func (c *Controller) evacuate(now int64) {
	due := c.migrations.due || c.migrations.wake != 0 && c.migrations.wake <= now
	if !due {
		return
	}
	before := c.migrations.byAttempt
	c.migrations = migrations{}
	for m := range c.view.Machines() {
		if m.Draining && !m.Lost {
			c.evacuateFrom(now, m, before)
		}
	}
}

// evacuateFrom is evacuate for one drained machine. Output of a gang that has not finished
// as a whole does not count yet, and may be written again.
func (c *Controller) evacuateFrom(now int64, m *cluster.Machine, before map[cluster.AttemptID]migration) {
	outputs, checkpoints := c.view.NeededOn(m)
	for _, t := range outputs {
		if j := c.view.Job(t.ID.Job); j.Published(t) && j.Loaded() {
			c.migrate(now, t.Winner.ID, before)
		}
	}
	for _, left := range checkpoints {
		if at := c.checkpointCopyDue(left); at > now {
			c.migrations.wake = sched.Earliest(c.migrations.wake, at)
		} else if at > 0 {
			c.migrate(now, left.Writer, before)
		}
	}
}

// checkpointCopyDue returns the time at which a checkpoint has to be copied; 0 for never in
// the present state. A running task outside gangs has fetched its checkpoint, or is about
// to. A task of a gang may be rolled back to its checkpoint.
func (c *Controller) checkpointCopyDue(left cluster.NeededCheckpoint) int64 {
	_, stage, t, _ := c.view.Task(left.ID)
	if t.State == cluster.TaskRunning && !stage.Bundle.Gang {
		return 0
	}
	return t.Attempts[left.Writer.Number].EndedAt + slotPatience
}

// migrate orders a copy of an attempt's output or checkpoint. A running copy is left alone
// unless its machine is lost.
func (c *Controller) migrate(now int64, id cluster.AttemptID, before map[cluster.AttemptID]migration) {
	was := before[id]
	switch {
	case was.to != "" && c.canCopy(was.to):
	case was.failed != "" && (was.retry == 0 || was.retry > now):
		c.migrations.wake = sched.Earliest(c.migrations.wake, was.retry)
	default:
		to := c.chooseTarget(was.failed)
		if to == "" {
			return
		}
		c.out.Orders = append(c.out.Orders, Order{Kind: OrderCopyOutput, Machine: to, Attempt: id, Job: id.Task.Job})
		was = migration{to: to}
	}
	if c.migrations.byAttempt == nil {
		c.migrations.byAttempt = make(map[cluster.AttemptID]migration)
	}
	c.migrations.byAttempt[id] = was
}

// canCopy reports whether a machine may make copies.
func (c *Controller) canCopy(name string) bool {
	m := c.view.Machine(name)
	return m != nil && !m.Lost && !m.Excluded
}

// chooseTarget returns the machine with the fewest copies below maxCopies, preferably not
// the machine that failed; "" for none.
func (c *Controller) chooseTarget(failed string) (name string) {
	load := make(map[string]int)
	for _, m := range c.migrations.byAttempt {
		load[m.to]++
	}
	least := maxCopies
	for m := range c.view.Machines() {
		if m.Name != failed && c.canCopy(m.Name) && m.Address != "" && load[m.Name] < least {
			name, least = m.Name, load[m.Name]
		}
	}
	if name == "" && failed != "" {
		return c.chooseTarget("")
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
