package fair

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// deal gives the free slots out at one moment.
type deal struct {
	policy *Policy
	now    int64
	view   sched.View
	root   *seat

	left  slots    // to be dealt
	dealt slots    // so far
	over  [2]bool  // nobody wants more of a kind
	batch []*offer // that got something and are not made, in the order of their first slot
}

func newDeal(p *Policy, now int64, view sched.View) *deal {
	return &deal{policy: p, now: now, view: view, root: &seat{queue: p.tree.root, place: [2]int{-1, -1}}}
}

// run deals all slots, and again those that could not be used for whoever got
// them, until nobody wants any.
func (d *deal) run(round *sched.Round) {
	for kind, jobs := range d.root.queue.wanting {
		if jobs > 1 {
			round.Hurry(cluster.Slot(kind))
		}
	}
	left := func() slots {
		return slots{round.LeftOf(cluster.MapSlot), round.LeftOf(cluster.ReduceSlot)}
	}
	for {
		d.left = left()
		d.deal()
		if len(d.batch) == 0 {
			break
		}
		for _, o := range d.batch {
			o.make(round)
		}
		d.batch = nil
	}
	if free := left(); round.Left() > free[0]+free[1] {
		d.lift(d.root, round)
	}
}

// deal gives the slots out one by one, of the kind of which fewer have been.
func (d *deal) deal() {
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
func (d *deal) take(s *seat, kind int) bool {
	if s.queue == nil {
		return d.grant(s, kind)
	}
	for r := d.row(s, kind); r.Len() > 0; heap.Pop(r) {
		if d.take(r.seats[0], kind) {
			return true
		}
	}
	return false
}

// grant gives slots to the first stage of a job that can have them. A bundle of
// which not all slots are there now gets them nevertheless: they are held for it.
func (d *deal) grant(s *seat, kind int) bool {
	for _, o := range s.offers {
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
		s.give(o.Need, o.Need.Minus(there))
		return true
	}
	return false
}

// give counts slots that a job gets, for itself and the pools that it is in, and
// those of them that are not free yet.
func (s *seat) give(need, missing slots) {
	s.claimant.Running = slots(s.claimant.Running).Plus(need)
	for ; s.parent != nil; s = s.parent {
		s.given, s.missing = s.given.Plus(need), s.missing.Plus(missing)
		for kind, r := range s.parent.rows {
			if r != nil && s.place[kind] >= 0 {
				heap.Fix(r, s.place[kind])
			}
		}
	}
	s.given, s.missing = s.given.Plus(need), s.missing.Plus(missing)
}

// room is how many times a job can have slots before a pool that it is in has all
// that it may.
func (s *seat) room(need slots) int {
	room := int(^uint(0) >> 1)
	for s = s.parent; s != nil; s = s.parent {
		for kind, n := range need {
			if n > 0 {
				room = min(room, max(s.queue.Max[kind]-s.queue.held()[kind]-s.given[kind], 0)/n)
			}
		}
	}
	return room
}

// lift offers all that has not been offered, since slots are held which some may
// take nevertheless: whatever writes for tasks that hold such slots.
func (d *deal) lift(s *seat, round *sched.Round) {
	if s.queue != nil {
		for kind := range d.left {
			d.row(s, kind)
		}
		for _, child := range s.children {
			d.lift(child, round)
		}
		return
	}
	for _, o := range s.offers {
		if o.granted = min(o.Count, s.room(o.Need)); !o.closed && o.granted > 0 {
			s.give(o.Need.Times(o.granted), slots{})
			o.make(round)
		}
	}
}
