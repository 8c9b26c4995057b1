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
	// maxMoves is how many copies a machine makes at once.
	maxMoves = 4
	// moveRetry is how long a copy that failed is left alone, ms.
	moveRetry = 1000
	// slotPatience is how long a task that has written a checkpoint may wait for a slot
	// before the checkpoint is copied, ms: who goes on elsewhere fetches it anyway.
	slotPatience = 1000
)

type moves struct {
	due  bool                       // something has changed since it was looked for more
	of   map[cluster.AttemptID]move // by who has left what is copied
	wake int64                      // when to look for more, ms since the epoch; 0 for "when something has changed"
}

// move is a copy that a machine makes, or could not make.
type move struct {
	to     string // the machine that makes it; "" when that has failed
	failed string // on which machine, "" for none
	retry  int64  // when it is tried again, ms since the epoch; 0 for never
}

// forget gives up what a machine was to copy, which may not have heard of it.
func (m *moves) forget(machine string) {
	for id, move := range m.of {
		if move.to == machine {
			delete(m.of, id)
		}
	}
	m.due = true
}

// evacuate orders copies of what lies on machines that are drained.
func (c *Controller) evacuate(now int64) {
	due := c.moves.due || c.moves.wake != 0 && c.moves.wake <= now
	if !due {
		return
	}
	before := c.moves.of
	c.moves = moves{}
	for m := range c.view.Machines() {
		if m.Draining && !m.Lost {
			c.evacuateFrom(now, m, before)
		}
	}
}

func (c *Controller) evacuateFrom(now int64, m *cluster.Machine, before map[cluster.AttemptID]move) {
	outputs, checkpoints := c.view.Remains(m)
	for _, t := range outputs {
		if j := c.view.Job(t.ID.Job); j.Published(t) && j.Loaded() {
			c.move(now, t.Winner.ID, before)
		}
	}
	for _, left := range checkpoints {
		if at := c.movable(left); at > now {
			c.moves.wake = sched.Earliest(c.moves.wake, at)
		} else if at > 0 {
			c.move(now, left.Of, before)
		}
	}
}

// movable is when a checkpoint is to be copied; 0 for not as things are. A task that
// goes on alone has it, or is about to; one of a gang may go back to it.
func (c *Controller) movable(left cluster.LeftCheckpoint) int64 {
	_, stage, t, _ := c.view.Task(left.ID)
	if t.State == cluster.TaskRunning && !stage.Bundle.Gang {
		return 0
	}
	return t.Attempts[left.Of.Number].EndedAt + slotPatience
}

// move has what an attempt has left copied. A copy that is under way goes on, unless the
// machine that makes it is lost.
func (c *Controller) move(now int64, id cluster.AttemptID, before map[cluster.AttemptID]move) {
	was := before[id]
	switch {
	case was.to != "" && c.takesOutput(was.to):
	case was.failed != "" && (was.retry == 0 || was.retry > now):
		c.moves.wake = sched.Earliest(c.moves.wake, was.retry)
	default:
		to := c.refuge(was.failed)
		if to == "" {
			return
		}
		c.out.Orders = append(c.out.Orders, Order{Kind: OrderTakeOver, Machine: to, Attempt: id, Job: id.Task.Job})
		was = move{to: to}
	}
	if c.moves.of == nil {
		c.moves.of = make(map[cluster.AttemptID]move)
	}
	c.moves.of[id] = was
}

// takesOutput reports whether a machine may copy something.
func (c *Controller) takesOutput(name string) bool {
	m := c.view.Machine(name)
	return m != nil && !m.Lost && !m.Excluded
}

// refuge is the machine that copies least now and may copy more, another one than that
// which has failed if there is one; "" for none.
func (c *Controller) refuge(failed string) (name string) {
	load := make(map[string]int)
	for _, m := range c.moves.of {
		load[m.to]++
	}
	least := maxMoves
	for m := range c.view.Machines() {
		if m.Name != failed && c.takesOutput(m.Name) && m.Address != "" && load[m.Name] < least {
			name, least = m.Name, load[m.Name]
		}
	}
	if name == "" && failed != "" {
		return c.refuge("")
	}
	return name
}

// taken has readers, or the task, go where a copy was made. One that failed is tried
// again, where there is room by then, unless what was to be copied is of no use.
func (c *Controller) taken(now int64, ev OutputTaken) {
	switch {
	case ev.Fault == "" && ev.Checkpoint != nil:
		at := ev.Checkpoint
		c.fact(cluster.MoveCheckpoint{Attempt: ev.Attempt, Machine: ev.Machine, Path: at.Path, Bytes: at.Bytes, Checksum: at.Checksum})
	case ev.Fault == "":
		c.fact(cluster.MoveOutput{Attempt: ev.Attempt, Machine: ev.Machine, Segments: ev.Segments})
	case c.moves.of[ev.Attempt].to == ev.Machine:
		failed := move{failed: ev.Machine, retry: now + moveRetry}
		if ev.OfNoUse {
			failed.retry = 0
		}
		c.moves.of[ev.Attempt] = failed
		c.moves.wake = sched.Earliest(c.moves.wake, failed.retry)
	}
}

// refused has a machine remove the copy that it has made of what nobody needs any more.
func (c *Controller) refused(command cluster.Command) {
	switch e := command.(type) {
	case cluster.MoveOutput:
		c.letGo(e.Attempt, e.Machine)
	case cluster.MoveCheckpoint:
		c.letGo(e.Attempt, e.Machine)
	}
}

func (c *Controller) letGo(id cluster.AttemptID, machine string) {
	j, _, a, known := c.view.Attempt(id)
	o := Order{Kind: OrderLetGo, Machine: machine, Attempt: id, Job: id.Task.Job}
	if !known || j.State.Final() {
		o.Kind, o.Attempt = OrderRemoveJob, cluster.AttemptID{}
	} else if a.Home() == machine {
		return // what later attempts have left may name it
	}
	c.out.Orders = append(c.out.Orders, o)
}
