package preempt

import (
	"cmp"

	"github.com/hammr/hammr/cluster"
)

// Means are the ways in which slots may be taken: by kind of task, one way or
// Auto. The zero value kills maps and reduces.
type Means struct {
	Map    How // "" is Kill; Split, Checkpoint, Suspend, Kill, Wait or Auto
	Reduce How // likewise, but a Split becomes a Checkpoint

	// MinRunMillis is how long an attempt runs at least that goes on with what was
	// there before, until its slot may be taken again; default 10,000 ms. Negative
	// is not at all.
	MinRunMillis int64

	Costs
}

// MinRun is MinRunMillis, or its default.
func (m Means) MinRun() int64 { return max(cmp.Or(m.MinRunMillis, 10_000), 0) }

// Victim is a running attempt whose slot somebody else wants, or a gang of them, which
// give up theirs together: then its times are the longest.
type Victim struct {
	Reduce     bool
	Elapsed    int64 // for how long it has held its slot, ms
	Remaining  int64 // for how long it would hold it still, ms; negative when that is unknown, and then it keeps it
	Splits     bool  // it is a map whose input can be cut
	MaySuspend bool  // its machine takes one more that stands still

	Barred cluster.Ways // that its job rules out

	Holding
	Others []Holding // of a gang, on further machines
}

// Holding is what a victim holds on a machine.
type Holding struct {
	// Memory is what it holds in memory, in bytes; 0 when that is unknown. Unwritten
	// is what of that it writes down when it ends early, in bytes, and of no meaning
	// while Memory is unknown.
	Memory, Unwritten int64

	Room *Room // of the machine; nil when that is unknown
}

// Choose says how to take the slot of a victim; Wait is not at all.
func (m Means) Choose(v Victim) How {
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
	return v.able(way)
}

// able is a way that the victim knows, for one that it may not: the next of those
// that keep work, then Kill, at last Wait.
func (v Victim) able(way How) How {
	if way == Split && (v.Reduce || !v.Splits || v.Barred.Has(cluster.WaySplit)) {
		way = Checkpoint
	}
	if way == Checkpoint && v.Barred.Has(cluster.WayCheckpoint) {
		way = Suspend
	}
	switch {
	case way == Suspend && !v.Barred.Has(cluster.WaySuspend):
		if !v.MaySuspend || v.outgrows() {
			return Wait
		}
	case way == Suspend:
		way = Kill
	}
	if way == Kill && v.Barred.Has(cluster.WayKill) {
		return Wait
	}
	return way
}

// cheapest is the way that costs least: what has to be written and read again, the
// work that is thrown away, or the time that the slot is not there.
func (m Means) cheapest(v Victim) How {
	c := m.WithDefaults()
	best, price := Wait, v.Remaining
	if price <= c.Heartbeat {
		return Wait
	}
	try := func(way How, cost int64) {
		if v.able(way) == way && cost < price {
			best, price = way, cost
		}
	}
	try(Kill, v.Elapsed)
	try(Split, c.split(v))
	try(Suspend, c.suspension(v))
	try(Checkpoint, c.checkpoint(v))
	return best
}
