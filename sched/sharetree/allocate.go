package sharetree

import (
	"container/heap"
	"iter"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// Allocate gives out all slots of a round, and again those that could not be used for
// whoever got them, until nobody in the root wants any. Everybody is all jobs, in
// the order in which they may take slots that are held for others. The answer is
// how many free slots each job and each pool has been given; who got none is not
// in it. Afterwards all sit as before.
func Allocate(round *placement.Round, view cluster.View, root *Entry, everybody iter.Seq[*Entry]) (given map[*Entry]sched.Slots) {
	d := &allocation{round: round, view: view, root: root, grants: make(map[*Entry]sched.Slots)}
	d.run()
	if round.Remaining() > d.free().Sum() {
		d.offerReserved(everybody)
	}
	d.reset()
	return d.grants
}

// allocation is the slots being given out at one moment.
type allocation struct {
	round *placement.Round
	view  cluster.View
	root  *Entry

	remaining sched.Slots // to be dealt
	granted   sched.Slots // so far
	satisfied [2]bool     // nobody wants more of a kind
	batch     []*offer    // that got something and are not made, in the order of their first slot

	touched   []*Entry // to be forgotten
	exhausted []exhaustedEntry
	ranked    []*childHeap
	grants    map[*Entry]sched.Slots
}

// exhaustedEntry is a seat that can have no more slots of a kind in this deal.
type exhaustedEntry struct {
	heap  *childHeap
	entry *Entry
}

func (d *allocation) free() sched.Slots {
	return sched.Slots{d.round.RemainingOf(cluster.MapSlot), d.round.RemainingOf(cluster.ReduceSlot)}
}

func (d *allocation) run() {
	for kind, jobs := range d.root.wantingJobs {
		if jobs > 1 {
			d.round.DisableLocalityWait(cluster.Slot(kind))
		}
	}
	for {
		d.remaining = d.free()
		if d.grantSlots(); len(d.batch) == 0 {
			return
		}
		for _, o := range d.batch {
			o.submit(d.round)
		}
		d.batch = nil
	}
}

// grantSlots gives the slots out one by one, of the kind of which fewer have been.
func (d *allocation) grantSlots() {
	for {
		kind := -1
		for k := range d.remaining {
			if d.remaining[k] > 0 && !d.satisfied[k] && (kind < 0 || d.granted[k] < d.granted[kind]) {
				kind = k
			}
		}
		if kind < 0 {
			return
		}
		d.satisfied[kind] = !d.grantTo(d.root, kind)
	}
}

// grantTo gives a slot of a kind to somebody in a pool, or to a job; false when
// nobody there can have one, now or later in the deal.
func (d *allocation) grantTo(s *Entry, kind int) bool {
	if !s.isPool() {
		return d.grantJob(s, kind)
	}
	if s.full(kind) {
		return false
	}
	r := d.heapOf(s, kind)
	for r.Len() > 0 {
		if d.grantTo(r.entries[0], kind) {
			return true
		}
		d.exhausted = append(d.exhausted, exhaustedEntry{r, heap.Pop(r).(*Entry)})
	}
	return false
}

// heapOf is that of a pool for a kind, in order.
func (d *allocation) heapOf(s *Entry, kind int) *childHeap {
	r := &s.heaps[kind]
	if s.Rank != nil && r.rank == nil && r.Len() > 0 {
		r.rank = s.Rank(kind, r.entries)
		heap.Init(r)
		d.ranked = append(d.ranked, r)
	}
	return r
}

// grantJob gives slots to the first stage of a job that can have them. A bundle of
// which not all slots are there now gets them nevertheless: they are held for it.
func (d *allocation) grantJob(s *Entry, kind int) bool {
	for _, o := range d.offersOf(s) {
		if !o.open(kind) || s.remaining(o.Need) == 0 {
			continue
		}
		if o.granted == 0 {
			d.batch = append(d.batch, o)
		}
		o.granted++
		there := o.Need.AtMost(d.remaining)
		o.closed = there != o.Need
		d.granted, d.remaining = d.granted.Plus(o.Need), d.remaining.Minus(there)
		d.countGrant(s, o.Need, there)
		return true
	}
	return false
}

// countGrant counts slots that a job gets, for itself and the pools that it is in, and
// those of them that are free.
func (d *allocation) countGrant(s *Entry, need, there sched.Slots) {
	for ; s != nil; s = s.parent {
		d.touch(s)
		s.granted, s.grantedFree = s.granted.Plus(need), s.grantedFree.Plus(there)
		s.fix()
	}
}

// fix puts a seat where it belongs in the rows that it is in.
func (s *Entry) fix() {
	if s.parent == nil {
		return
	}
	for kind := range s.parent.heaps {
		s.parent.heaps[kind].fix(s)
	}
}

// touch remembers a seat that the deal changes.
func (d *allocation) touch(s *Entry) {
	if !s.touched {
		s.touched = true
		d.touched = append(d.touched, s)
	}
}

// offerReserved offers all that has not been offered, since slots are held which some may
// take nevertheless: whatever writes for tasks that hold such slots.
func (d *allocation) offerReserved(everybody iter.Seq[*Entry]) {
	for s := range everybody {
		for _, o := range d.offersOf(s) {
			if o.granted = min(o.Count, s.remaining(o.Need)); !o.closed && o.granted > 0 {
				d.countGrant(s, o.Need.Times(o.granted), sched.Slots{})
				o.submit(d.round)
			}
		}
	}
}

// reset ends the deal. One seat changes after the other, or none would find its
// place.
func (d *allocation) reset() {
	for _, r := range d.ranked {
		r.rank = nil
	}
	for _, s := range d.touched {
		if s.grantedFree != (sched.Slots{}) {
			d.grants[s] = s.grantedFree
		}
		s.grant, s.touched = grant{}, false
		s.fix()
	}
	for _, r := range d.exhausted {
		r.heap.add(r.entry.parent, r.heap.kind, r.entry)
	}
}
