package preempt

import (
	"cmp"
)

// Config are the ways in which slots may be taken: by kind of task, one way or
// Auto. The zero value kills maps and reduces.
type Config struct {
	Map    Mode // "" is Kill; Split, Checkpoint, Suspend, Kill, Wait or Auto
	Reduce Mode // likewise, but a Split becomes a Checkpoint

	// MinRunMillis is how long an attempt runs at least that goes on with what was
	// there before, until its slot may be taken again; default 10,000 ms. Negative
	// is not at all.
	MinRunMillis int64

	Costs
}

// MinRun is MinRunMillis, or its default.
func (m Config) MinRun() int64 { return max(cmp.Or(m.MinRunMillis, 10_000), 0) }

// Victim is a running attempt whose slot somebody else wants, or a gang of them, which
// give up theirs together: then its times are the longest.
type Victim struct {
	Reduce     bool
	Elapsed    int64 // for how long it has held its slot, ms
	Remaining  int64 // for how long it would hold it still, ms; negative when that is unknown, and then it keeps it
	CanSplit   bool  // it is a map whose input can be cut
	CanSuspend bool  // its machine takes one more that stands still

	DisallowedModes ModeSet // that its job rules out

	Footprint
	Others []Footprint // of a gang, on further machines
}

// Footprint is what a victim holds on a machine.
type Footprint struct {
	// Memory is what it holds in memory, in bytes; 0 when that is unknown. Unwritten
	// is what of that it writes down when it ends early, in bytes, and of no meaning
	// while Memory is unknown.
	Memory, Unwritten int64

	Headroom *MemHeadroom // of the machine; nil when that is unknown
}

// Choose says how to take the slot of a victim; Wait is not at all.
func (m Config) Choose(v Victim) Mode {
	if v.Remaining < 0 {
		return Wait
	}
	way := cmp.Or(m.Map, Kill)
	if v.Reduce {
		way = cmp.Or(m.Reduce, Kill)
	}
	if way == Auto {
		return m.cheapest(v)
	}
	return v.fallback(way)
}

// fallback is a way that the victim knows, for one that it may not: the next of those
// that keep work, then Kill, at last Wait.
func (v Victim) fallback(way Mode) Mode {
	if way == Split && (v.Reduce || !v.CanSplit || v.DisallowedModes.Has(Split)) {
		way = Checkpoint
	}
	if way == Checkpoint && v.DisallowedModes.Has(Checkpoint) {
		way = Suspend
	}
	switch {
	case way == Suspend && !v.DisallowedModes.Has(Suspend):
		if !v.CanSuspend || v.exceedsMemory() {
			return Wait
		}
	case way == Suspend:
		way = Kill
	}
	if way == Kill && v.DisallowedModes.Has(Kill) {
		return Wait
	}
	return way
}

// cheapest is the way that costs least: what has to be written and read again, the
// work that is thrown away, or the time that the slot is not there.
func (m Config) cheapest(v Victim) Mode {
	c := m.WithDefaults()
	best, price := Wait, v.Remaining
	if price <= c.SlotFreeLatency {
		return Wait
	}
	try := func(way Mode, cost int64) {
		if v.fallback(way) == way && cost < price {
			best, price = way, cost
		}
	}
	try(Kill, v.Elapsed)
	try(Split, c.splitCost(v))
	try(Suspend, c.suspendCost(v))
	try(Checkpoint, c.checkpointCost(v))
	return best
}
