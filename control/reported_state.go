package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// reportedState is what machines and attempts report and no log keeps. After a change of
// leader they report it again. It implements sched.SoftState, sched.MemReporter and
// FetchReporter.
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

// headrooms is the free memory of machines, by name.
type headrooms map[string]preempt.MemHeadroom

// progress is the progress of active attempts.
type progress map[cluster.AttemptID]sched.Progress

// update stores what an attempt reports; a negative fraction is unknown. An attempt without
// progress yet is stored too: a task of a single long record has none until its end, and may
// be preempted all the same.
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
