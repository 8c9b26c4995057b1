package deal

import (
	"container/heap"
	"iter"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Run gives out all slots of a round, and again those that could not be used for
// whoever got them, until nobody in the root wants any. Everybody is all jobs, in
// the order in which they may take slots that are held for others. The answer is
// how many free slots each job and each pool has been given; who got none is not
// in it. Afterwards all sit as before.
func Run(round *sched.Round, view cluster.View, root *Seat, everybody iter.Seq[*Seat]) (given map[*Seat]sched.Slots) {
	d := &dealing{round: round, view: view, root: root, given: make(map[*Seat]sched.Slots)}
	d.run()
	if round.Left() > d.free().Sum() {
		d.lift(everybody)
	}
	d.forget()
	return d.given
}

// dealing is the slots being given out at one moment.
type dealing struct {
	round *sched.Round
	view  cluster.View
	root  *Seat

	left  sched.Slots // to be dealt
	dealt sched.Slots // so far
	over  [2]bool     // nobody wants more of a kind
	batch []*offer    // that got something and are not made, in the order of their first slot

	touched []*Seat // to be forgotten
	risen   []risen
	ranked  []*row
	given   map[*Seat]sched.Slots
}

// risen is a seat that can have no more slots of a kind in this deal.
type risen struct {
	row  *row
	seat *Seat
}

func (d *dealing) free() sched.Slots {
	return sched.Slots{d.round.LeftOf(cluster.MapSlot), d.round.LeftOf(cluster.ReduceSlot)}
}

func (d *dealing) run() {
	for kind, jobs := range d.root.jobs {
		if jobs > 1 {
			d.round.Hurry(cluster.Slot(kind))
		}
	}
	for {
		d.left = d.free()
		if d.deal(); len(d.batch) == 0 {
			return
		}
		for _, o := range d.batch {
			o.make(d.round)
		}
		d.batch = nil
	}
}

// deal gives the slots out one by one, of the kind of which fewer have been.
func (d *dealing) deal() {
	for {
		kind := -1
		for k := range d.left {
			if d.left[k] > 0 && !d.over[k] && (kind < 0 || d.dealt[k] < d.dealt[kind]) {
				kind = k
			}
		}
		if kind < 0 {
			return
		}
		d.over[kind] = !d.take(d.root, kind)
	}
}

// take gives a slot of a kind to somebody in a pool, or to a job; false when
// nobody there can have one, now or later in the deal.
func (d *dealing) take(s *Seat, kind int) bool {
	if !s.isPool() {
		return d.grant(s, kind)
	}
	if s.full(kind) {
		return false
	}
	r := d.row(s, kind)
	for r.Len() > 0 {
		if d.take(r.seats[0], kind) {
			return true
		}
		d.risen = append(d.risen, risen{r, heap.Pop(r).(*Seat)})
	}
	return false
}

// row is that of a pool for a kind, in order.
func (d *dealing) row(s *Seat, kind int) *row {
	r := &s.rows[kind]
	if s.Rank != nil && r.rank == nil && r.Len() > 0 {
		r.rank = s.Rank(kind, r.seats)
		heap.Init(r)
		d.ranked = append(d.ranked, r)
	}
	return r
}

// grant gives slots to the first stage of a job that can have them. A bundle of
// which not all slots are there now gets them nevertheless: they are held for it.
func (d *dealing) grant(s *Seat, kind int) bool {
	for _, o := range d.offersOf(s) {
		if !o.open(kind) || s.room(o.Need) == 0 {
			continue
		}
		if o.granted == 0 {
			d.batch = append(d.batch, o)
		}
		o.granted++
		there := o.Need.AtMost(d.left)
		o.closed = there != o.Need
		d.dealt, d.left = d.dealt.Plus(o.Need), d.left.Minus(there)
		d.give(s, o.Need, there)
		return true
	}
	return false
}

// give counts slots that a job gets, for itself and the pools that it is in, and
// those of them that are free.
func (d *dealing) give(s *Seat, need, there sched.Slots) {
	for ; s != nil; s = s.parent {
		d.touch(s)
		s.given, s.there = s.given.Plus(need), s.there.Plus(there)
		s.settle()
	}
}

// settle puts a seat where it belongs in the rows that it is in.
func (s *Seat) settle() {
	if s.parent == nil {
		return
	}
	for kind := range s.parent.rows {
		s.parent.rows[kind].fix(s)
	}
}

// touch remembers a seat that the deal changes.
func (d *dealing) touch(s *Seat) {
	if !s.changed {
		s.changed = true
		d.touched = append(d.touched, s)
	}
}

// lift offers all that has not been offered, since slots are held which some may
// take nevertheless: whatever writes for tasks that hold such slots.
func (d *dealing) lift(everybody iter.Seq[*Seat]) {
	for s := range everybody {
		for _, o := range d.offersOf(s) {
			if o.granted = min(o.Count, s.room(o.Need)); !o.closed && o.granted > 0 {
				d.give(s, o.Need.Times(o.granted), sched.Slots{})
				o.make(d.round)
			}
		}
	}
}

// forget ends the deal. One seat changes after the other, or none would find its
// place.
func (d *dealing) forget() {
	for _, r := range d.ranked {
		r.rank = nil
	}
	for _, s := range d.touched {
		if s.there != (sched.Slots{}) {
			d.given[s] = s.there
		}
		s.hand, s.changed = hand{}, false
		s.settle()
	}
	for _, r := range d.risen {
		r.row.add(r.seat.parent, r.row.kind, r.seat)
	}
}
