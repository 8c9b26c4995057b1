package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// preemptionDeclined handles an attempt that could not save its work. If it can be suspended
// instead, it is, unless others of its gang still have to end. An attempt that could not be
// suspended gets its slot back if that is still free; otherwise it is killed.
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
