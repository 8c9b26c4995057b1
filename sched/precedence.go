package sched

import "github.com/hammr/hammr/cluster"

// JobComparer is a policy that can tell whose claim to a slot is better. Chronos
// asks the policy that it wraps (section 4: the priority of jobs).
type JobComparer interface {
	// Precedes reports whether a slot of a kind that job b has should rather be
	// a's: under FIFO because a was submitted first, under fair sharing because
	// a is below its share and b above its own.
	Precedes(now int64, view View, kind cluster.Slot, a, b *cluster.Job) bool
}
