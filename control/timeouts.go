package control

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
)

// taskTimeouts knows when each running attempt last made progress. The heap has one entry
// for each attempt, with a time at or before its deadline: progress moves only the deadline,
// and the entry is updated when it comes up.
type taskTimeouts struct {
	attempts map[cluster.AttemptID]*watchedAttempt
	due      dueHeap
}

type watchedAttempt struct {
	timeout  int64 // ms
	mark     uint64
	deadline int64 // ms since the epoch
}

type dueEntry struct {
	at      int64
	attempt cluster.AttemptID
}

// add starts the timeout of an attempt. 0 is no timeout.
func (w *taskTimeouts) add(now int64, id cluster.AttemptID, timeout int64) {
	if timeout == 0 {
		return
	}
	if w.attempts == nil {
		w.attempts = make(map[cluster.AttemptID]*watchedAttempt)
	}
	w.attempts[id] = &watchedAttempt{timeout: timeout, deadline: now + timeout}
	heap.Push(&w.due, dueEntry{now + timeout, id})
}

func (w *taskTimeouts) remove(id cluster.AttemptID) { delete(w.attempts, id) }

// progressed moves the deadline if the mark has changed.
func (w *taskTimeouts) progressed(now int64, id cluster.AttemptID, mark uint64) {
	if a := w.attempts[id]; a != nil && a.mark != mark {
		a.mark, a.deadline = mark, now+a.timeout
	}
}

// expired returns the attempts whose deadline has passed, and removes them.
func (w *taskTimeouts) expired(now int64) (late []cluster.AttemptID) {
	for len(w.due) > 0 && w.due[0].at <= now {
		e := heap.Pop(&w.due).(dueEntry)
		switch a := w.attempts[e.attempt]; {
		case a == nil:
		case a.deadline > now:
			heap.Push(&w.due, dueEntry{a.deadline, e.attempt})
		default:
			late = append(late, e.attempt)
			delete(w.attempts, e.attempt)
		}
	}
	return late
}

// next is when to call expired again, 0 for never.
func (w *taskTimeouts) next() int64 {
	if len(w.due) == 0 {
		return 0
	}
	return w.due[0].at
}

// dueHeap orders by time, then attempt, so that the order is deterministic.
type dueHeap []dueEntry

func (h dueHeap) Len() int      { return len(h) }
func (h dueHeap) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h dueHeap) Less(i, k int) bool {
	if h[i].at != h[k].at {
		return h[i].at < h[k].at
	}
	return h[i].attempt.Compare(h[k].attempt) < 0
}

func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueEntry)) }

func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
