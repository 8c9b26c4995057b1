package preempt

import (
	"cmp"
)

// Config contains a policy's settings for preemption: a mode for maps, a mode for reduces,
// and the costs of modes. The zero value kills maps and reduces.
type Config struct {
	Map    Mode // Split, Checkpoint, Suspend, Kill, Wait or Auto; default Kill
	Reduce Mode // like Map, but Split becomes Checkpoint

	// MinRunMillis protects an attempt that resumed earlier work: it runs at least this long
	// before its slot is taken again. Without it, two jobs could preempt each other's
	// attempts forever. Default 10,000 ms; a negative value is 0.
	MinRunMillis int64

	// Order chooses the attempt that loses its slot. Default nil: the policy's own order.
	Order Order

	Costs
}

// MinRun returns MinRunMillis, or its default.
func (m Config) MinRun() int64 { return max(cmp.Or(m.MinRunMillis, 10_000), 0) }

// Victim describes a running attempt whose slot is needed. It may stand for a gang, whose
// attempts give up their slots together: then Elapsed and Remaining are the longest of the
// gang.
type Victim struct {
	Reduce     bool
	Elapsed    int64 // time for which it has occupied its slot, ms
	Remaining  int64 // time for which it would still occupy its slot, ms; negative if unknown: then it keeps the slot
	CanSplit   bool  // it is a map whose input can be split
	CanSuspend bool  // its machine has memory for one more suspended attempt

	DisallowedModes ModeSet // modes that its job disallows

	Footprint
	Others []Footprint // footprints of a gang on its other machines
}

// Footprint is the memory that a victim uses on one machine.
type Footprint struct {
	// Memory is in bytes; 0 if unknown. Unwritten is the part of Memory that the victim
	// writes when it ends early, in bytes. It is not used while Memory is unknown.
	Memory, Unwritten int64

	Headroom *MemHeadroom // memory headroom of the machine; nil if unknown
}

// Choose returns the mode in which to preempt a victim. With Wait the victim keeps its slot.
func (m Config) Choose(v Victim) Mode {
	if v.Remaining < 0 {
		return Wait
	}
	mode := cmp.Or(m.Map, Kill)
	if v.Reduce {
		mode = cmp.Or(m.Reduce, Kill)
	}
	if mode == Auto {
		return m.cheapest(v)
	}
	return v.fallback(mode)
}

// fallback returns the mode, or the next one that the victim allows: Split, Checkpoint and
// Suspend keep its work and are tried in this order, then Kill, and finally Wait.
func (v Victim) fallback(mode Mode) Mode {
	if mode == Split && (v.Reduce || !v.CanSplit || v.DisallowedModes.Has(Split)) {
		mode = Checkpoint
	}
	if mode == Checkpoint && v.DisallowedModes.Has(Checkpoint) {
		mode = Suspend
	}
	switch {
	case mode == Suspend && !v.DisallowedModes.Has(Suspend):
		if !v.CanSuspend || v.exceedsMemory() {
			return Wait
		}
	case mode == Suspend:
		mode = Kill
	}
	if mode == Kill && v.DisallowedModes.Has(Kill) {
		return Wait
	}
	return mode
}

// cheapest returns the mode with the lowest cost. The cost is the time to write and read the
// state, the lost work, or the wait for the slot (Chronos, section 4).
func (m Config) cheapest(v Victim) Mode {
	c := m.WithDefaults()
	best, price := Wait, v.Remaining
	if price <= c.SlotFreeLatency {
		return Wait
	}
	try := func(mode Mode, cost int64) {
		if v.fallback(mode) == mode && cost < price {
			best, price = mode, cost
		}
	}
	try(Kill, v.Elapsed)
	try(Split, c.splitCost(v))
	try(Suspend, c.suspendCost(v))
	try(Checkpoint, c.checkpointCost(v))
	return best
}
