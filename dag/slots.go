package dag

import (
	"fmt"
	"math"
)

// Slots is a number of slots of each kind, {map slots, reduce slots}. A slot runs one Node.
// Package cluster names the kinds and the type: cluster.Slots, indexed by cluster.Slot.
//
// Differences may be negative: a machine whose disks fill up offers fewer slots than its
// attempts use.
type Slots [2]int

// Indexes of Slots; the values of cluster.Slot.
const (
	mapSlots = iota
	reduceSlots
)

// Plus returns the sum of both.
func (s Slots) Plus(t Slots) Slots { return Slots{s[0] + t[0], s[1] + t[1]} }

// Minus returns the difference.
func (s Slots) Minus(t Slots) Slots { return Slots{s[0] - t[0], s[1] - t[1]} }

// Times returns n times the slots.
func (s Slots) Times(n int) Slots { return Slots{s[0] * n, s[1] * n} }

// AtMost returns s, reduced to t where s has more slots of a kind.
func (s Slots) AtMost(t Slots) Slots { return Slots{min(s[0], t[0]), min(s[1], t[1])} }

// AtLeast returns s, raised to t where s has fewer slots of a kind.
func (s Slots) AtLeast(t Slots) Slots { return Slots{max(s[0], t[0]), max(s[1], t[1])} }

// Total returns the number of slots of both kinds.
func (s Slots) Total() int { return s[0] + s[1] }

// IsZero reports whether there is no slot of any kind.
func (s Slots) IsZero() bool { return s == Slots{} }

// FitsIn reports whether the free slots include s. If s needs no slot of a kind, the free
// slots of that kind may even be negative.
func (s Slots) FitsIn(free Slots) bool { return s.CountIn(free) > 0 }

// CountIn returns how many times the slots fit into the free ones: the number of equal tasks
// that can start. It is math.MaxInt if s is zero.
func (s Slots) CountIn(free Slots) int {
	times := math.MaxInt
	for kind, n := range s {
		if n > 0 {
			times = min(times, max(free[kind], 0)/n)
		}
	}
	return times
}

// String formats the slots for error texts: "2 map", "1 reduce" or "2 map, 1 reduce".
func (s Slots) String() string {
	switch {
	case s[reduceSlots] == 0:
		return fmt.Sprintf("%d map", s[mapSlots])
	case s[mapSlots] == 0:
		return fmt.Sprintf("%d reduce", s[reduceSlots])
	}
	return fmt.Sprintf("%d map, %d reduce", s[mapSlots], s[reduceSlots])
}

// slotsFor returns the slots of a number of Nodes of one kind.
func slotsFor(kind SlotKind, nodes int) Slots {
	if kind == SlotReduce {
		return Slots{reduceSlots: nodes}
	}
	return Slots{mapSlots: nodes}
}
