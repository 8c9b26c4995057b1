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

import "github.com/hammr/hammr/cluster"

// Policy gives out slots. Times are ms since the epoch.
type Policy interface {
	// Reset forgets everything and looks at the state afresh.
	Reset(now int64, view cluster.View)

	// Observe hears of one applied change; view is the state after it.
	Observe(now int64, view cluster.View, delta cluster.Delta)

	// Decide says what should start now. It changes nothing: the plan is to be
	// proposed, and may be refused in part when it is applied.
	Decide(now int64, view cluster.View) Plan

	// NextWake is when Decide may say something else though nothing has
	// changed; 0 when only a change can do that.
	NextWake() int64
}

// Plan is what a policy wants done. Each task stands in it at most once, and all
// starts together take no more slots of a machine than are free.
type Plan struct {
	Starts  []Start       // each task at most once; no more on a machine than it has free slots
	Bundles []BundleStart // likewise; their tasks stand in no other
}

// BundleStart gives slots to all tasks of a bundle.
type BundleStart struct {
	Job    cluster.JobID
	Class  int // place in cluster.Job.Bundles
	Number int // in the class
	Starts []Start
}

// Start gives a slot of a machine to a task.
type Start struct {
	Task    cluster.TaskID
	Machine string
	Local   bool // the task's split lies on the machine

	RackLocal bool // it lies in the machine's rack, but not on it
}
