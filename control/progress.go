package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// reducing is the fraction at which a reduce begins with the user's function:
// copying and merging are a third of its work each, as in Hadoop.
const reducing = 2.0 / 3

// progress is how far running attempts are. It is soft: a new leader hears of it
// anew.
type progress map[cluster.AttemptID]sched.Progress

// told takes over what an attempt says; a negative fraction is none. One that has
// come nowhere yet is known all the same: a task of a single long record is so to
// its end, and may be preempted.
func (p progress) told(now int64, id cluster.AttemptID, kind cluster.Slot, fraction float64) {
	if !(fraction >= 0) {
		return
	}
	since := p[id].Reducing
	if since == 0 && kind == cluster.ReduceSlot && fraction > reducing {
		since = now
	}
	p[id] = sched.Progress{At: now, Fraction: min(fraction, 1), Reducing: since}
}

func (p progress) forget(id cluster.AttemptID) { delete(p, id) }

// Progress implements sched.Facts.
func (p progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	known, ok := p[id]
	return known, ok
}
