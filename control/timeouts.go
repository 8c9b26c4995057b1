package control

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/minheap"
)

// taskTimeouts records when each running attempt last made progress
// (mapreduce.task.timeout). The heap has one entry for each attempt, with a time at or
// before its deadline: progress moves only the deadline, and the entry is updated when it
// comes up. So a progress report, of which there are thousands a second, costs a look-up and
// no change of the heap.
type taskTimeouts struct {
	attempts map[cluster.AttemptID]*watchedAttempt // attempts with a running timeout
	due      minheap.Heap[dueEntry]                // an entry of an attempt that is not in attempts is stale
}

// watchedAttempt is the timeout of one attempt.
type watchedAttempt struct {
	timeout  int64  // ms
	mark     uint64 // mark of the last progress; it changes when the attempt makes progress
	deadline int64  // ms since the epoch
}

// dueEntry says when to look at an attempt again.
type dueEntry struct {
	at      int64
	attempt cluster.AttemptID
}

// Before orders by time, then attempt, so that the order is deterministic.
func (e dueEntry) Before(other dueEntry) bool {
	return cmp.Or(cmp.Compare(e.at, other.at), e.attempt.Compare(other.attempt)) < 0
}

// add starts the timeout of an attempt; a timeout of 0 starts none.
func (w *taskTimeouts) add(now int64, id cluster.AttemptID, timeout int64) {
	if timeout == 0 {
		return
	}
	w.attempts[id] = &watchedAttempt{timeout: timeout, deadline: now + timeout}
	w.due.Push(dueEntry{now + timeout, id})
}

func (w *taskTimeouts) remove(id cluster.AttemptID) { delete(w.attempts, id) }

// progressed moves the deadline if the mark has changed.
func (w *taskTimeouts) progressed(now int64, id cluster.AttemptID, mark uint64) {
	if a := w.attempts[id]; a != nil && a.mark != mark {
		a.mark, a.deadline = mark, now+a.timeout
	}
}

// postpone moves every deadline by a time, ms.
func (w *taskTimeouts) postpone(millis int64) {
	for _, a := range w.attempts {
		a.deadline += millis
	}
}

// expired returns the attempts whose deadline has passed, and removes them.
func (w *taskTimeouts) expired(now int64) (late []cluster.AttemptID) {
	for len(w.due) > 0 && w.due[0].at <= now {
		e := w.due.Pop()
		switch a := w.attempts[e.attempt]; {
		case a == nil:
		case a.deadline > now:
			w.due.Push(dueEntry{a.deadline, e.attempt})
		default:
			late = append(late, e.attempt)
			delete(w.attempts, e.attempt)
		}
	}
	return late
}

// next returns the time at which to call expired again, 0 for never.
func (w *taskTimeouts) next() int64 {
	if len(w.due) == 0 {
		return 0
	}
	return w.due[0].at
}

// updateJobTimeouts stops the timeouts of a suspended job's attempts, which may wait for
// tasks of the job that get no slots. It restarts them when the job is resumed.
func (c *Controller) updateJobTimeouts(now int64, id cluster.JobID) {
	j := c.view.Job(id)
	suspended := j != nil && j.Suspended
	if suspended == c.suspendedJobs[id] {
		return
	}
	if delete(c.suspendedJobs, id); suspended {
		c.suspendedJobs[id] = true
	}
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			switch {
			case a.ID.Task.Job != id:
			case suspended:
				c.timeouts.remove(a.ID)
			default:
				c.startTimeout(now, a)
			}
		}
	}
}

// startTimeout starts the timeout of an attempt that can make progress.
func (c *Controller) startTimeout(now int64, a *cluster.Attempt) {
	j := c.view.Job(a.ID.Task.Job)
	if a.Active() && !a.Suspended() && !j.Suspended {
		c.timeouts.add(now, a.ID, j.Spec.TimeoutMillis)
	}
}

// updateTimeout stops the timeout of a suspended attempt, and restarts it when the attempt
// resumes.
func (c *Controller) updateTimeout(now int64, a *cluster.Attempt) {
	if a.Suspended() {
		c.timeouts.remove(a.ID)
	} else if a.SuspendedAt > 0 {
		c.startTimeout(now, a)
	}
}

// timeOut fails an attempt that shows no progress. Its process still occupies its slot,
// so the command orders its machine to kill it. The text is Hadoop's.
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
