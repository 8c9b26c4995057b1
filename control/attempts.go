package control

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// finished proposes what a finished attempt reports. If it stopped before the end of its
// task's range, the rest becomes a new task.
func (c *Controller) finished(ev AttemptFinished) {
	_, t, a, ok := c.view.Attempt(ev.Attempt)
	if !ok {
		return
	}
	if a.Active() && t.Ranged &&
		ev.Range.Start == t.Range.Start && ev.Range.End.Less(t.Range.End) && !ev.Range.Empty() {
		c.enqueue(cluster.SplitTask{Attempt: ev.Attempt, At: ev.Range.End})
	}
	c.enqueue(cluster.FinishAttempt{Attempt: ev.Attempt, Range: ev.Range, Output: ev.Output, Counters: ev.Counters})
}

// failed proposes what a failed attempt reports. If it could not read another attempt's
// output, that output is lost, and the failure is not charged to the reader.
func (c *Controller) failed(ev AttemptFailed) {
	_, _, _, known := c.view.Attempt(ev.LostOutput)
	if known && ev.LostOutput.Task.Job == ev.Attempt.Task.Job {
		c.enqueue(cluster.LoseOutput{Attempt: ev.LostOutput, Cause: ev.Failure.Cause})
		c.enqueue(cluster.FailAttempt{Attempt: ev.Attempt, Failure: ev.Failure, Uncharged: true, BadCheckpoint: ev.BadCheckpoint})
		return
	}
	c.enqueue(cluster.FailAttempt{Attempt: ev.Attempt, Failure: ev.Failure, BadCheckpoint: ev.BadCheckpoint})
}

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

// timeOut fails an attempt that shows no progress. Its process still holds its slot.
func (c *Controller) timeOut(id cluster.AttemptID) {
	j, _, _, ok := c.view.Attempt(id)
	if !ok {
		return
	}
	seconds := float64(j.Spec.TimeoutMillis) / 1000
	c.enqueue(cluster.FailAttempt{
		Attempt: id, OnMachine: true,
		Failure: cluster.Failure{
			Cause:  fmt.Sprintf("Task %v failed to report status for %g seconds. Killing! (mapreduce.task.timeout)", id, seconds),
			Offset: -1,
		},
	})
}
