package control

import "github.com/hammr/hammr/cluster"

// What finished attempts have left on a machine that is drained, and others need,
// is copied by other machines. Which copies are under way is soft: a new leader
// orders them anew, and a machine that has one already says so at once.
const (
	// maxMoves is how many copies a machine makes at once.
	maxMoves = 4
	// moveRetry is how long a copy that failed is left alone, ms.
	moveRetry = 1000
)

type moves struct {
	due   bool                         // something has changed since it was looked for more
	to    map[cluster.AttemptID]string // machine that copies its output; "" when that has failed
	retry int64                        // when those that failed are tried again, ms since the epoch; 0 for none
}

// forget gives up what a machine was to copy, which may not have heard of it.
func (m *moves) forget(machine string) {
	for id, to := range m.to {
		if to == machine {
			delete(m.to, id)
		}
	}
	m.due = true
}

// evacuate orders copies of what lies on machines that are drained.
func (c *Controller) evacuate(now int64) {
	if c.moves.retry != 0 && c.moves.retry <= now {
		c.moves.forget("")
		c.moves.retry = 0
	}
	if !c.moves.due {
		return
	}
	c.moves.due = false
	before := c.moves.to
	c.moves.to = nil
	for m := range c.view.Machines() {
		if m.Draining && !m.Lost {
			c.evacuateFrom(m, before)
		}
	}
}

// evacuateFrom orders copies of what lies on a machine. Those that are under way go
// on, unless the machine that makes them is lost.
func (c *Controller) evacuateFrom(m *cluster.Machine, before map[cluster.AttemptID]string) {
	outputs, _ := c.view.Remains(m)
	for _, t := range outputs {
		j := c.view.Job(t.ID.Job)
		if !j.Published(t) || !j.Loaded() {
			continue
		}
		to, known := before[t.Winner.ID]
		if known && (to == "" || c.takesOutput(to)) {
			c.move(t, to)
			continue
		}
		if to = c.refuge(); to == "" {
			continue
		}
		c.move(t, to)
		c.out.Orders = append(c.out.Orders, Order{Kind: OrderTakeOver, Machine: to, Attempt: t.Winner.ID, Job: j.ID})
	}
}

func (c *Controller) move(t *cluster.Task, to string) {
	if c.moves.to == nil {
		c.moves.to = make(map[cluster.AttemptID]string)
	}
	c.moves.to[t.Winner.ID] = to
}

// takesOutput reports whether a machine may copy something.
func (c *Controller) takesOutput(name string) bool {
	m := c.view.Machine(name)
	return m != nil && !m.Lost && !m.Excluded
}

// refuge is the machine that copies least now and may copy more; "" for none.
func (c *Controller) refuge() (name string) {
	load := make(map[string]int)
	for _, to := range c.moves.to {
		load[to]++
	}
	least := maxMoves
	for m := range c.view.Machines() {
		if c.takesOutput(m.Name) && m.Address != "" && load[m.Name] < least {
			name, least = m.Name, load[m.Name]
		}
	}
	return name
}

// taken has readers go where a copy was made. One that failed is tried again, where
// there is room by then.
func (c *Controller) taken(now int64, ev OutputTaken) {
	if ev.Fault == "" {
		c.fact(cluster.MoveOutput{Attempt: ev.Attempt, Machine: ev.Machine, Segments: ev.Segments})
		return
	}
	if c.moves.to[ev.Attempt] == ev.Machine {
		c.moves.to[ev.Attempt] = ""
		c.moves.retry = now + moveRetry
	}
}
