package dag

import "fmt"

// SlotCounts counts slots of each kind. A slot runs one Node.
type SlotCounts struct {
	Map    int
	Reduce int
}

// Plus returns the sum of both.
func (c SlotCounts) Plus(d SlotCounts) SlotCounts {
	return SlotCounts{Map: c.Map + d.Map, Reduce: c.Reduce + d.Reduce}
}

// Times returns n times the slots.
func (c SlotCounts) Times(n int) SlotCounts {
	return SlotCounts{Map: c.Map * n, Reduce: c.Reduce * n}
}

// FitsInto reports whether room has at least as many slots of each kind.
func (c SlotCounts) FitsInto(room SlotCounts) bool {
	return c.Map <= room.Map && c.Reduce <= room.Reduce
}

// countIn is how many times c fits into room; most if c is empty.
func (c SlotCounts) countIn(room SlotCounts, most int) int {
	if c.Map > 0 {
		most = min(most, room.Map/c.Map)
	}
	if c.Reduce > 0 {
		most = min(most, room.Reduce/c.Reduce)
	}
	return most
}

func (c SlotCounts) String() string {
	switch {
	case c.Reduce == 0:
		return fmt.Sprintf("%d map", c.Map)
	case c.Map == 0:
		return fmt.Sprintf("%d reduce", c.Reduce)
	}
	return fmt.Sprintf("%d map, %d reduce", c.Map, c.Reduce)
}

// slotsFor is the slots of nodes Nodes of a kind.
func slotsFor(kind SlotKind, nodes int) SlotCounts {
	if kind == SlotReduce {
		return SlotCounts{Reduce: nodes}
	}
	return SlotCounts{Map: nodes}
}
