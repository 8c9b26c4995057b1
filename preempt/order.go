package preempt

import "cmp"

// Order chooses among attempts that may lose their slots. A policy decides from which job or pool a slot is
// taken, and how many; the order says which attempt loses it.
type Order interface {
	// Compare returns a negative number if a loses its slot before b, and 0 if it does not matter: then the
	// policy's own order decides. The modes of a and b are not chosen yet.
	Compare(a, b Victim) int
}

// LeastWork takes the slot of the attempt that has had it for the shortest time.
type LeastWork struct{}

// Compare implements Order.
func (LeastWork) Compare(a, b Victim) int { return cmp.Compare(a.Elapsed, b.Elapsed) }

// MostRemaining takes the slot of the attempt that would still have it for the longest time. An attempt
// with an unknown rest comes last, since it keeps its slot.
type MostRemaining struct{}

// Compare implements Order.
func (MostRemaining) Compare(a, b Victim) int { return -cmp.Compare(a.Remaining, b.Remaining) }
