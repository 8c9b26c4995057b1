package board

import (
	"github.com/hammr/hammr/cluster"
)

// WaitBuckets are upper bounds of Waits.Buckets, in ms.
var WaitBuckets = [...]int64{100, 300, 1_000, 3_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000}

// Waits is a histogram of waits.
type Waits struct {
	Count   uint64
	Millis  int64                    // sum
	Buckets [len(WaitBuckets)]uint64 // waits of at most the bound
}

// BySeconds returns Buckets by their bounds in seconds.
func (w Waits) BySeconds() map[float64]uint64 {
	buckets := make(map[float64]uint64, len(WaitBuckets))
	for i, bound := range WaitBuckets {
		buckets[float64(bound)/1000] = w.Buckets[i]
	}
	return buckets
}

// AllWaits are the waits since the board was made.
type AllWaits struct {
	// Starts are the times that attempts waited for their slots before they started: from the time at which
	// their task was ready, which is when enough input of the stage was written, when the previous attempt
	// ended or when a split made the task. Resumed and speculative attempts do not count.
	Starts Waits
	// Recoveries are the times from the loss of a tasknode to the starts of the tasks that were lost with it.
	Recoveries Waits
	// Corrections are, of each loss with tasks, the time until none of them waited any more.
	Corrections Waits
}

// Waits returns the waits since the board was made.
func (b *Board) Waits() AllWaits {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.waits
}

// observeWait adds the wait of a task that has just started.
func (u *update) observeWait(s *stage, id cluster.TaskID) {
	j, now, t, known := u.view.Task(id)
	if !known {
		return
	}
	if s.readyAt == 0 {
		s.readyAt = j.ReadyAt(now) // visits all tasks that it reads from
	}
	ready := max(s.readyAt, s.splitAt[id.Number])
	delete(s.splitAt, id.Number)
	for _, a := range t.Attempts {
		ready = max(ready, a.EndedAt)
	}
	u.Board.mu.waits.Starts.observe(max(u.at-ready, 0))
}

// observe adds a wait, in ms.
func (w *Waits) observe(wait int64) {
	w.Count, w.Millis = w.Count+1, w.Millis+wait
	for i, bound := range WaitBuckets {
		if wait <= bound {
			w.Buckets[i]++
		}
	}
}

// forgetReady notes that attempts have lost output that stages of their jobs wait for again.
func (u *update) forgetReady(revoked []cluster.AttemptID) {
	for i, id := range revoked {
		if i > 0 && id.Task.Job == revoked[i-1].Task.Job {
			continue
		}
		if n, known := u.find(id.Task.Job); known {
			for _, s := range u.jobs[n].stages {
				s.readyAt = 0
			}
		}
	}
}
