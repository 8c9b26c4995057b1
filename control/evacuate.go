package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// What finished attempts have left on a machine that is drained, and others need, is
// copied by other machines, and so are the checkpoints there from which tasks may go
// on. Which copies are under way is soft: a new leader orders them anew, and a machine
// that has one already says so at once.
const (
	// maxCopies is how many copies a machine makes at once.
	maxCopies = 4
	// copyRetry is how long a copy that failed is left alone, ms.
	copyRetry = 1000
	// slotPatience is how long a task that has written a checkpoint may wait for a slot
	// before the checkpoint is copied, ms: who goes on elsewhere fetches it anyway.
	slotPatience = 1000
)

type migrations struct {
	due       bool                            // something has changed since it was looked for more
	byAttempt map[cluster.AttemptID]migration // by who has left what is copied
	wake      int64                           // when to look for more, ms since the epoch; 0 for "when something has changed"
}

// migration is a copy that a machine makes, or could not make.
type migration struct {
	to     string // the machine that makes it; "" when that has failed
	failed string // on which machine, "" for none
	retry  int64  // when it is tried again, ms since the epoch; 0 for never
}

// forget gives up what a machine was to copy, which may not have heard of it.
func (m *migrations) forget(machine string) {
	for id, move := range m.byAttempt {
		if move.to == machine {
			delete(m.byAttempt, id)
		}
	}
	m.due = true
}

// evacuate orders copies of what lies on machines that are drained.
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

// checkpointCopyDue is when a checkpoint is to be copied; 0 for not as things are. A task that
// goes on alone has it, or is about to; one of a gang may go back to it.
func (c *Controller) checkpointCopyDue(left cluster.NeededCheckpoint) int64 {
	_, stage, t, _ := c.view.Task(left.ID)
	if t.State == cluster.TaskRunning && !stage.Bundle.Gang {
		return 0
	}
	return t.Attempts[left.Writer.Number].EndedAt + slotPatience
}

// migrate has what an attempt has left copied. A copy that is under way goes on, unless the
// machine that makes it is lost.
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

// canCopy reports whether a machine may copy something.
func (c *Controller) canCopy(name string) bool {
	m := c.view.Machine(name)
	return m != nil && !m.Lost && !m.Excluded
}

// chooseTarget is the machine that copies least now and may copy more, another one than that
// which has failed if there is one; "" for none.
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

// outputCopied has readers, or the task, go where a copy was made. One that failed is tried
// again, where there is room by then, unless what was to be copied is of no use.
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

// commandRefused has a machine remove the copy that it has made of what nobody needs any more.
func (c *Controller) commandRefused(command cluster.Command) {
	switch e := command.(type) {
	case cluster.MoveOutput:
		c.discardCopy(e.Attempt, e.Machine)
	case cluster.MoveCheckpoint:
		c.discardCopy(e.Attempt, e.Machine)
	}
}

func (c *Controller) discardCopy(id cluster.AttemptID, machine string) {
	j, _, a, known := c.view.Attempt(id)
	o := Order{Kind: OrderDropCopy, Machine: machine, Attempt: id, Job: id.Task.Job}
	if !known || j.State.Final() {
		o.Kind, o.Attempt = OrderRemoveJob, cluster.AttemptID{}
	} else if a.DataMachine() == machine {
		return // what later attempts have left may name it
	}
	c.out.Orders = append(c.out.Orders, o)
}
