// Package sched is what a scheduling policy is: something that looks at the
// cluster's state and says which task gets which slot.
//
// A policy is pure and is stepped by its caller:
//
//	p.Reset(now, view)                 // once, and whenever its memory is in doubt
//	for each applied change {
//		p.Observe(now, view, delta)
//		plan := p.Decide(now, view)    // propose it; ask again after it is applied
//	}
//
// What a policy remembers between calls is a cache: Reset followed by Decide
// gives the same plan as any sequence of Observe followed by Decide. So a new
// master, and a change of policy while jobs run, need nothing but Reset.
package sched

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// View is what a policy sees: the replicated state, and what is known of it
// beside that.
type View struct {
	cluster.View
	SoftState SoftState // nil: nothing is known
	Trace     bool      // somebody wants to know what is decided: plans have Decisions
}

// SoftState are what machines have told and no log keeps: a new leader knows none of
// them at first. What is unknown moves no policy to preempt anything.
type SoftState interface {
	// Progress is how far a running attempt is, as it said last; ok is false
	// when that is unknown.
	Progress(id cluster.AttemptID) (p Progress, ok bool)
}

// ReducePhaseStart is the fraction at which a reduce begins with the user's function:
// copying and merging are a third of its work each, as in Hadoop.
const ReducePhaseStart = 2.0 / 3

// Progress is how far an attempt is.
type Progress struct {
	ReportedAt int64   // when it said so, ms since the epoch
	Fraction   float64 // of its work done, in [0, 1]

	// ReducingSince is since when a reduce is known to run the user's function, its
	// fraction being beyond ReducePhaseStart; 0 before that, and for maps.
	ReducingSince int64

	// Memory is what it holds in memory, in bytes; 0 when that is unknown. Unwritten
	// is what of that it would have to write if it were to end early.
	Memory, Unwritten int64
}

// MemReporter are Facts that know of the memory of machines too.
type MemReporter interface {
	// MemHeadroom is the memory that a machine has for more, as it said last; ok is
	// false when that is unknown.
	MemHeadroom(machine string) (r preempt.MemHeadroom, ok bool)
}

// Progress is that of Facts, where there are any.
func (v View) Progress(id cluster.AttemptID) (p Progress, ok bool) {
	if v.SoftState == nil {
		return p, false
	}
	return v.SoftState.Progress(id)
}

// MemHeadroom is that of Facts that know it.
func (v View) MemHeadroom(machine string) (r preempt.MemHeadroom, ok bool) {
	if rooms, knows := v.SoftState.(MemReporter); knows {
		return rooms.MemHeadroom(machine)
	}
	return r, false
}

// Policy gives out slots. Times are ms since the epoch.
type Policy interface {
	// Reset forgets everything and looks at the state afresh.
	Reset(now int64, view View)

	// Observe hears of one applied change; view is the state after it.
	Observe(now int64, view View, delta cluster.Delta)

	// Decide says what should start now. It changes nothing: the plan is to be
	// proposed, and may be refused in part when it is applied.
	Decide(now int64, view View) Plan

	// NextWake is when Decide may say something else though nothing has
	// changed; 0 when only a change can do that.
	NextWake() int64
}

// Plan is what a policy wants done. Each task stands in it at most once, and all
// starts and resumes together take no more slots of a machine than are free.
type Plan struct {
	Preempts []Preempt // each attempt at most once; whom it makes room for starts when it is gone

	Resumes []cluster.AttemptID // suspended ones that get a slot of their machine again

	Starts  []Start       // each task at most once; no more on a machine than it has free slots
	Bundles []BundleStart // likewise; their tasks stand in no other

	BundleResumes []BundleResume // suspended ones that get the slots of their machines again

	// Decisions, of a View with Trace, are what a Round has offered, and the
	// shares as a policy sees them: all of them each time, since whoever passes
	// them on leaves out what it has told. Other decisions follow from the plan.
	Decisions []Decision
}

// Preempt takes its slot from a running attempt. It is not charged to its task.
type Preempt struct {
	Attempt cluster.AttemptID
	Mode    preempt.Mode // not Wait
	Cause   string       // for people: what the slot is needed for
}

// BundleStart gives slots to all tasks of a bundle.
type BundleStart struct {
	Job    cluster.JobID
	Class  int // place in cluster.Job.Bundles
	Number int // in the class
	Starts []Start
}

// BundleResume gives all attempts of a bundle that stand still their slots again.
type BundleResume struct {
	Attempts []cluster.AttemptID // in order of tasks
}

// Start gives a slot of a machine to a task.
type Start struct {
	Task    cluster.TaskID
	Machine string
	Local   bool // the task's split lies on the machine

	RackLocal bool // it lies in the machine's rack, but not on it
}

// Earliest is the smaller of two times of which 0 means never.
func Earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
