package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// reportedState is what machines tell that no log keeps: a new leader hears of it anew.
// It implements sched.SoftState, sched.MemReporter and Fetches.
type reportedState struct {
	progress
	fetches
	headrooms headrooms
}

func newReportedState() reportedState {
	return reportedState{make(progress), make(fetches), make(headrooms)}
}

// MemHeadroom implements sched.MemReporter.
func (s reportedState) MemHeadroom(machine string) (preempt.MemHeadroom, bool) {
	r, ok := s.headrooms[machine]
	return r, ok
}

// headrooms is the memory that machines have for more, by name.
type headrooms map[string]preempt.MemHeadroom

// progress is how far running attempts are.
type progress map[cluster.AttemptID]sched.Progress

// update takes over what an attempt with a slot says; a negative fraction is none. One that has
// come nowhere yet is known all the same: a task of a single long record is so to
// its end, and may be preempted.
func (p progress) update(now int64, kind cluster.Slot, ev AttemptProgressed) {
	if !(ev.Fraction >= 0) {
		return
	}
	since := p[ev.Attempt].ReducingSince
	if since == 0 && kind == cluster.ReduceSlot && ev.Fraction > sched.ReducePhaseStart {
		since = now
	}
	p[ev.Attempt] = sched.Progress{
		ReportedAt: now, Fraction: min(ev.Fraction, 1), ReducingSince: since, Memory: max(ev.Memory, 0), Unwritten: max(ev.Unwritten, 0),
	}
}

func (p progress) forget(id cluster.AttemptID) { delete(p, id) }

// Progress implements sched.SoftState.
func (p progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	known, ok := p[id]
	return known, ok
}
