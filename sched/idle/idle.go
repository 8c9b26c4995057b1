// Package idle has a policy that starts nothing. A master uses it for the rest of its lead if
// every other policy panics: running tasks end, reports are handled, and jobs can be inspected
// and killed.
//
// It is not in sched/registry, since no cluster is configured with it.
package idle

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Policy starts no tasks and takes no slots.
type Policy struct{}

// Reset implements sched.Policy.
func (Policy) Reset(int64, sched.View) {}

// Observe implements sched.Policy.
func (Policy) Observe(int64, sched.View, cluster.Delta) {}

// Decide returns an empty plan.
func (Policy) Decide(int64, sched.View) sched.Plan { return sched.Plan{} }

// NextWake returns 0: time changes nothing.
func (Policy) NextWake() int64 { return 0 }
