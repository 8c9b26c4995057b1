package preempt

import (
	"cmp"
)

// Config is a policy's settings of preemption: a mode for maps and one for reduces, and what
// the modes cost. The zero value kills maps and reduces.
type Config struct {
	Map    Mode // Split, Checkpoint, Suspend, Kill, Wait or Auto; default Kill
	Reduce Mode // likewise, but Split becomes Checkpoint

	// MinRunMillis protects an attempt that resumed earlier work: it runs at least for so
	// long before its slot is taken again. Without it, two jobs could preempt each other's
	// attempts forever. Default 10,000 ms; a negative value is 0.
	MinRunMillis int64

	Costs
}

// MinRun is MinRunMillis with its default.
func (m Config) MinRun() int64 { return max(cmp.Or(m.MinRunMillis, 10_000), 0) }

// Victim describes a running attempt whose slot is needed. It may stand for a gang, whose
// attempts give up their slots together: then its times are the longest of the gang.
type Victim struct {
	Reduce     bool
	Elapsed    int64 // time it has occupied its slot, ms
	Remaining  int64 // time it would still occupy it, ms; negative if unknown: then it keeps the slot
	CanSplit   bool  // it is a map whose input can be split
	CanSuspend bool  // its machine has memory for one more suspended attempt

	DisallowedModes ModeSet // by its job

	Footprint
	Others []Footprint // those of a gang on further machines
}

// Footprint is the memory that a victim uses on one machine.
type Footprint struct {
	// Memory is in bytes; 0 if unknown. Unwritten is the part of it that the victim writes
	// when it ends early, in bytes. It means nothing while Memory is unknown.
	Memory, Unwritten int64

	Headroom *MemHeadroom // of the machine; nil if unknown
}

// Choose returns the mode in which to preempt a victim. Wait leaves its slot to it.
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
// Suspend keep its work and are tried in this order; then Kill; at last Wait.
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

// cheapest returns the mode with the lowest cost: of writing and reading the state again, of
// the work that is lost, or of waiting for the slot (Chronos, section 4).
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
