package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// declined has an attempt go on that was asked to keep its work and end. Where it
// may, it stands still instead. One that was to stand still and cannot gets its
// slot back, if that is free yet.
func (c *Controller) declined(ev AttemptDeclined) {
	_, stage, _, _ := c.view.Task(ev.Attempt.Task)
	_, _, a, ok := c.view.Attempt(ev.Attempt)
	switch {
	case !ok || a.State != cluster.AttemptRunning:
	case a.Suspended && c.hasRoom(a, stage):
		c.fact(cluster.ResumeAttempt{Attempt: ev.Attempt})
	case a.Suspended:
		cause := fmt.Sprintf("its slot is taken and its work cannot be kept: %s", ev.Cause)
		c.fact(cluster.KillAttempt{Attempt: ev.Attempt, Cause: cause})
	case a.Pausing:
		cause := a.Cause
		c.fact(cluster.DeclinePause{Attempt: ev.Attempt})
		if ev.MayStand && c.mayStand(a, stage) {
			c.fact(cluster.SuspendAttempt{Attempt: ev.Attempt, Cause: cause})
		}
	}
}

func (c *Controller) hasRoom(a *cluster.Attempt, stage *cluster.Stage) bool {
	m := c.view.Machine(a.Machine)
	for kind, slots := range stage.Slots {
		if m.Free(cluster.Slot(kind)) < slots {
			return false
		}
	}
	return true
}

// mayStand reports whether an attempt more may stand still on its machine: no more
// do than could run there instead.
func (c *Controller) mayStand(a *cluster.Attempt, stage *cluster.Stage) bool {
	m := c.view.Machine(a.Machine)
	still := 0
	for _, other := range m.Attempts {
		if other.Suspended && other.Slot == a.Slot {
			still++
		}
	}
	return stage.Alone() && still < m.Slots[a.Slot]
}
