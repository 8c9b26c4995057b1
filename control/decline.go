package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// preemptionDeclined has an attempt go on that was asked to keep its work and end. Where it
// may, it stands still instead, unless others of its gang are still to end. One that was to stand still and cannot gets its
// slot back, if that is free yet.
func (c *Controller) preemptionDeclined(ev PreemptionDeclined) {
	_, _, a, ok := c.view.Attempt(ev.Attempt)
	switch {
	case !ok || !a.Active():
	case a.Suspended() && c.view.CanResume(a):
		c.enqueue(cluster.ResumeAttempt{Attempt: ev.Attempt})
	case a.Suspended():
		cause := fmt.Sprintf("its slot is taken and its work cannot be kept: %s", ev.Cause)
		c.enqueue(cluster.KillAttempt{Attempt: ev.Attempt, Cause: cause})
	case a.Preempting():
		cause := a.Cause
		c.enqueue(cluster.DeclinePreemption{Attempt: ev.Attempt})
		if ev.CanSuspend && c.view.FirstOverSuspended(c.view.GangOf(a), nil) == nil {
			c.enqueue(cluster.PreemptAttempt{Attempt: ev.Attempt, Cause: cause, Mode: preempt.Suspend})
		}
	}
}
