package disco

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// deal gives the free slots out at one moment.
type deal struct {
	policy *Policy
	view   sched.View
	seats  []*seat // in order of submission; nil before there is something to deal
	rows   [2]*row

	left  slots          // to be dealt
	dealt slots          // so far
	given map[*job]slots // of those, what was free
	batch []*offer       // that got something and are not made, in the order of their first slot
}

// offer is what can be given to a stage, or to a class of bundles.
type offer struct {
	sched.Want
	granted int  // at most Count
	closed  bool // it gets no more in this round
}

// run deals all slots, and again those that could not be used for whoever got
// them, until nobody wants any.
func (d *deal) run(round *sched.Round) {
	left := func() slots {
		return slots{round.LeftOf(cluster.MapSlot), round.LeftOf(cluster.ReduceSlot)}
	}
	for d.left = left(); d.left.Sum() > 0; d.left = left() {
		d.sit(round)
		if d.deal(); len(d.batch) == 0 {
			break
		}
		for _, o := range d.batch {
			o.closed = true
			o.Offer(round, o.granted)
		}
		d.batch = nil
	}
	if round.Left() > left().Sum() {
		d.lift(round)
	}
}

// sit seats all jobs that want slots.
func (d *deal) sit(round *sched.Round) {
	if d.seats != nil {
		return
	}
	for _, j := range d.policy.line {
		if j.Waiting != (slots{}) {
			d.seats = append(d.seats, newSeat(j, d.view))
		}
	}
	for kind := range d.rows {
		if d.rows[kind] = newRow(kind, d.seats); d.rows[kind].Len() > 1 {
			round.Hurry(cluster.Slot(kind))
		}
	}
}

// deal gives the slots out one by one, of the kind of which fewer have been.
func (d *deal) deal() {
	for {
		kind := -1
		for k, r := range d.rows {
			if d.left[k] > 0 && r.Len() > 0 && (kind < 0 || d.dealt[k] < d.dealt[kind]) {
				kind = k
			}
		}
		if kind < 0 {
			return
		}
		if r := d.rows[kind]; !d.grant(r.seats[0], kind) {
			heap.Pop(r)
		}
	}
}

// grant gives slots to the first stage of a job that can have them. A bundle of
// which not all slots are there now gets them nevertheless: they are held for it.
func (d *deal) grant(s *seat, kind int) bool {
	for _, o := range s.offers {
		if o.closed || o.Need[kind] == 0 || o.granted == o.Count {
			continue
		}
		if o.granted == 0 {
			d.batch = append(d.batch, o)
		}
		o.granted++
		there := o.Need.AtMost(d.left)
		o.closed = there != o.Need
		d.dealt, d.left = d.dealt.Plus(o.Need), d.left.Minus(there)
		s.has = s.has.Plus(o.Need)
		d.given[s.job] = d.given[s.job].Plus(there)
		for _, r := range d.rows {
			r.fix(s)
		}
		return true
	}
	return false
}

// lift offers all that has not been offered, since slots are held which some may
// take nevertheless: whatever writes for tasks that hold such slots.
func (d *deal) lift(round *sched.Round) {
	d.sit(round)
	for _, s := range d.seats {
		for _, o := range s.offers {
			if !o.closed {
				o.Offer(round, o.Count)
			}
		}
	}
}
