// Package sched is the contract between the master and its scheduling policies. A
// policy reads a snapshot of the cluster, the View, and answers with a Plan: which
// tasks start where, which suspended attempts resume, which attempts lose their slots.
//
// A policy is pure. Its caller steps it:
//
//	p.Reset(now, view)                 // once, and whenever its caches may be wrong
//	for each applied command {
//		p.Observe(now, view, delta)
//		plan := p.Decide(now, view)    // propose it; ask again after it is applied
//	}
//
// All that a policy stores between two calls is a cache: Reset followed by Decide gives the
// same plan as any sequence of Observe followed by Decide. A new master, and a change of
// policy while jobs run, therefore need nothing but Reset.
//
// To write a policy, read four files: policy.go (what a policy sees and implements), plan.go
// (what it returns), want.go (to what slots can be given), optional.go (what it may
// implement in addition). Package placement finds the machines, package ledger counts the
// slots of jobs, and package victim chooses attempts to preempt. A call of registry.Register
// makes the policy known to programs, and `hammr sim verify` checks it.
package sched

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// View is the snapshot that a policy decides on: the replicated state, and the soft
// state that attempts and machines have reported.
type View struct {
	cluster.View
	SoftState SoftState // nil if nothing is known
	Trace     bool      // Plan.Decisions is wanted
}

// SoftState contains reports of attempts. It is not replicated, so a new leader has no
// reports at first. A policy never preempts an attempt of unknown progress, since it could
// choose the wrong attempt.
type SoftState interface {
	// Progress returns the latest progress report of a running attempt; ok is false
	// if there is none.
	Progress(id cluster.AttemptID) (p Progress, ok bool)
}

// ReducePhaseStart is the fraction of its work at which a reduce starts the user's
// function. Copying and merging count as a third each, as in Hadoop.
const ReducePhaseStart = 2.0 / 3

// Progress is a progress report of an attempt.
type Progress struct {
	ReportedAt int64   // ms since the epoch
	Fraction   float64 // fraction of its work that is done, in [0, 1]

	// ReducingSince is the first time at which a reduce was known to run the user's
	// function, that is, at which Fraction exceeded ReducePhaseStart; ms since the
	// epoch. It is 0 before that, and for maps.
	ReducingSince int64

	// Memory is the attempt's memory in bytes; 0 if unknown. Unwritten is the part of Memory
	// that a checkpoint or a split would have to write.
	Memory, Unwritten int64
}

// MemReporter is a SoftState that also has the memory of machines.
type MemReporter interface {
	// MemHeadroom returns the free memory that a machine last reported; ok is false if it
	// has not reported any.
	MemHeadroom(machine string) (r preempt.MemHeadroom, ok bool)
}

// Progress returns the progress of an attempt from SoftState.
func (v View) Progress(id cluster.AttemptID) (p Progress, ok bool) {
	if v.SoftState == nil {
		return p, false
	}
	return v.SoftState.Progress(id)
}

// MemHeadroom returns the memory left on a machine, if SoftState is a MemReporter.
func (v View) MemHeadroom(machine string) (r preempt.MemHeadroom, ok bool) {
	if reporter, is := v.SoftState.(MemReporter); is {
		return reporter.MemHeadroom(machine)
	}
	return r, false
}

// Policy allocates slots. All times are ms since the epoch.
type Policy interface {
	// Reset drops all caches and rebuilds them from the view.
	Reset(now int64, view View)

	// Observe updates the caches after one applied command; view is the state after
	// it.
	Observe(now int64, view View, delta cluster.Delta)

	// Decide returns what should happen now. It changes no state: the caller proposes
	// the plan, and parts of it may be refused when it is applied.
	Decide(now int64, view View) Plan

	// NextWake returns the time at which Decide may return another plan even if nothing has
	// changed; 0 if only a change can cause another plan.
	NextWake() int64
}

// Earliest returns the earlier of two times; a time of 0 means never.
func Earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
