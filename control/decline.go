package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// declined has an attempt go on that was asked to keep its work and end. Where it
// may, it stands still instead, unless others of its gang are still to end. One that was to stand still and cannot gets its
// slot back, if that is free yet.
func (c *Controller) declined(ev AttemptDeclined) {
	_, _, a, ok := c.view.Attempt(ev.Attempt)
	switch {
	case !ok || a.State != cluster.AttemptRunning:
	case a.Suspended && c.view.HasRoomFor(a):
		c.fact(cluster.ResumeAttempt{Attempt: ev.Attempt})
	case a.Suspended:
		cause := fmt.Sprintf("its slot is taken and its work cannot be kept: %s", ev.Cause)
		c.fact(cluster.KillAttempt{Attempt: ev.Attempt, Cause: cause})
	case a.Pausing:
		cause := a.Cause
		c.fact(cluster.DeclinePause{Attempt: ev.Attempt})
		if ev.MayStand && c.view.Crowded(c.view.Together(a), nil) == nil {
			c.fact(cluster.SuspendAttempt{Attempt: ev.Attempt, Cause: cause})
		}
	}
}
