package control

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// finished proposes the commands for a finished attempt. If it stopped before the end of its
// task's range, the rest becomes a new task (Chronos, section 4.1): first SplitTask, then
// FinishAttempt, since an attempt wins only with the whole range of its task.
func (c *Controller) finished(t *cluster.Task, a *cluster.Attempt, ev AttemptFinished) {
	if a.Active() && t.Ranged &&
		ev.Range.Start == t.Range.Start && ev.Range.End.Less(t.Range.End) && !ev.Range.Empty() {
		c.enqueue(cluster.SplitTask{Attempt: ev.Attempt, At: ev.Range.End})
	}
	c.enqueue(cluster.FinishAttempt{Attempt: ev.Attempt, Range: ev.Range, Output: ev.Output, Counters: ev.Counters})
}

// failed proposes the commands for a failed attempt. If it could not read another attempt's
// output, that output is lost, and the failure is not charged to the reader. If the machine with
// the output did not answer, either of the two machines may be at fault; the state decides
// (cluster.FailAttempt.Unreached).
func (c *Controller) failed(ev AttemptFailed) {
	_, _, _, known := c.view.Attempt(ev.LostOutput)
	uncharged := known && ev.LostOutput.Task.Job == ev.Attempt.Task.Job
	command := cluster.FailAttempt{Attempt: ev.Attempt, Failure: ev.Failure, Uncharged: uncharged, BadCheckpoint: ev.BadCheckpoint, StorageDown: ev.StorageDown}
	switch {
	case uncharged && ev.Unreached:
		command.Unreached = ev.LostOutput
	case uncharged:
		c.enqueue(cluster.LoseOutput{Attempt: ev.LostOutput, Cause: ev.Failure.Cause})
	}
	c.enqueue(command)
}

// exited proposes ExitAttempt. If the process is stuck instead, the failure names the user's
// code, because nothing else keeps a process from exiting.
func (c *Controller) exited(ev AttemptExited) {
	command := cluster.ExitAttempt{Attempt: ev.Attempt, Cause: cmp.Or(ev.Cause, "it exited without an order")}
	if ev.StuckStack != "" {
		command.Stuck = &cluster.Failure{
			Cause:  fmt.Sprintf("%v was ordered to exit and does not: user code has to return when its context is done", ev.Attempt),
			Stack:  ev.StuckStack,
			Offset: -1,
		}
	}
	c.enqueue(command)
}

// preemptionDeclined handles an attempt that could not save its work. If it can be
// suspended, it is suspended, unless other attempts of its gang still have to end. An
// attempt that could not be suspended gets its slot back if the slot is still free;
// otherwise it is killed.
func (c *Controller) preemptionDeclined(a *cluster.Attempt, ev PreemptionDeclined) {
	switch {
	case !a.Active():
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
