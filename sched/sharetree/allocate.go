package sharetree

import (
	"container/heap"
	"iter"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// Allocate gives out all slots of a round. It gives out unused slots again, until no job
// below the root wants any. jobs yields all jobs that want slots, in the order in which they
// may take reserved slots. Allocate returns the number of free slots that each job and pool
// got; entries without slots are missing. The tree is unchanged afterwards.
func Allocate(round *placement.Round, view cluster.View, root *Entry, jobs iter.Seq[*Entry]) (granted map[*Entry]cluster.Slots) {
	a := &allocation{round: round, view: view, root: root, grants: make(map[*Entry]cluster.Slots)}
	a.run()
	if round.Remaining() > a.free().Total() {
		a.offerReserved(jobs)
	}
	a.reset()
	return a.grants
}

// allocation is the state of one call of Allocate.
type allocation struct {
	round *placement.Round
	view  cluster.View
	root  *Entry

	remaining cluster.Slots // slots that can be granted in this pass
	granted   cluster.Slots // slots granted so far
	satisfied [2]bool       // by kind: no job wants more
	batch     []*offer      // offers granted but not submitted, in the order of their first slot

	touched   []*Entry         // entries whose grant must be reset
	exhausted []exhaustedEntry // entries taken out of their heaps
	ranked    []*childHeap     // heaps whose rank must be dropped
	grants    map[*Entry]cluster.Slots
}

// exhaustedEntry is an entry that can get no more slots of a kind in this allocation.
type exhaustedEntry struct {
	heap  *childHeap
	entry *Entry
}

// free returns the slots that can be granted, without reserved ones.
func (a *allocation) free() cluster.Slots {
	return cluster.Slots{a.round.RemainingOf(cluster.MapSlot), a.round.RemainingOf(cluster.ReduceSlot)}
}

// run grants and submits slots in passes, until a pass grants nothing. After the first pass,
// the free slots are the slots that placement did not use.
func (a *allocation) run() {
	for kind, jobs := range a.root.wantingJobs {
		if jobs > 1 {
			a.round.DisableLocalityWait(cluster.Slot(kind))
		}
	}
	for {
		a.remaining = a.free()
		if a.grantSlots(); len(a.batch) == 0 {
			return
		}
		for _, o := range a.batch {
			o.submit(a.round)
		}
		a.batch = nil
	}
}

// grantSlots grants the free slots one at a time, always of the kind of which fewer have
// been granted.
func (a *allocation) grantSlots() {
	for {
		kind := -1
		for k := range a.remaining {
			if a.remaining[k] > 0 && !a.satisfied[k] && (kind < 0 || a.granted[k] < a.granted[kind]) {
				kind = k
			}
		}
		if kind < 0 {
			return
		}
		a.satisfied[kind] = !a.grantTo(a.root, kind)
	}
}

// grantTo grants a slot of a kind to a job, or to a job below a pool. It returns false if no
// job can take a slot, now or later in the allocation.
func (a *allocation) grantTo(e *Entry, kind int) bool {
	if !e.isPool() {
		return a.grantJob(e, kind)
	}
	if e.full(kind) {
		return false
	}
	h := a.heapOf(e, kind)
	for h.Len() > 0 {
		if a.grantTo(h.entries[0], kind) {
			return true
		}
		a.exhausted = append(a.exhausted, exhaustedEntry{h, heap.Pop(h).(*Entry)})
	}
	return false
}

// heapOf returns the children of a pool that want slots of a kind, as a heap.
func (a *allocation) heapOf(e *Entry, kind int) *childHeap {
	h := &e.heaps[kind]
	if e.Rank != nil && h.rank == nil && h.Len() > 0 {
		h.rank = e.Rank(kind, h.entries)
		heap.Init(h)
		a.ranked = append(a.ranked, h)
	}
	return h
}

// grantJob grants slots to the first stage of a job that can take them. A bundle for which
// too few slots are free gets them nevertheless: placement reserves them for it.
func (a *allocation) grantJob(e *Entry, kind int) bool {
	for _, o := range a.offersOf(e) {
		if !o.open(kind) || e.remaining(o.Need) == 0 {
			continue
		}
		if o.granted == 0 {
			a.batch = append(a.batch, o)
		}
		o.granted++
		free := o.each.AtMost(a.remaining)
		o.closed = free != o.each
		a.granted, a.remaining = a.granted.Plus(o.each), a.remaining.Minus(free)
		a.countGrant(e, o.each, free)
		return true
	}
	return false
}

// countGrant counts the slots that a job gets, and how many of them are free, for the job
// and for the pools above it.
func (a *allocation) countGrant(e *Entry, need, free cluster.Slots) {
	for ; e != nil; e = e.parent {
		a.touch(e)
		e.granted, e.grantedFree = e.granted.Plus(need), e.grantedFree.Plus(free)
		e.fix()
	}
}

// touch notes an entry whose grant reset must clear.
func (a *allocation) touch(e *Entry) {
	if !e.touched {
		e.touched = true
		a.touched = append(a.touched, e)
	}
}

// offerReserved submits all offers that have not been made, since some stages may take
// reserved slots: stages that write the input of tasks in such slots.
func (a *allocation) offerReserved(jobs iter.Seq[*Entry]) {
	for e := range jobs {
		for _, o := range a.offersOf(e) {
			if o.granted = min(o.Count, e.remaining(o.Need)); !o.closed && o.granted > 0 {
				a.countGrant(e, o.Need.Times(o.granted), cluster.Slots{})
				o.submit(a.round)
			}
		}
	}
}

// reset ends the allocation. Each entry is fixed before the next one changes: a heap can
// repair only one misplaced entry at a time.
func (a *allocation) reset() {
	for _, h := range a.ranked {
		h.rank = nil
	}
	for _, e := range a.touched {
		if !e.grantedFree.IsZero() {
			a.grants[e] = e.grantedFree
		}
		e.grant, e.touched = grant{}, false
		e.fix()
	}
	for _, x := range a.exhausted {
		x.heap.add(x.entry.parent, x.heap.kind, x.entry)
	}
}

// offer describes slots granted to a want of a job.
type offer struct {
	sched.Want
	usable  int           // how many of them free slots suffice for, at most Count
	each    cluster.Slots // slots that each takes, at most Need
	granted int           // at most Count
	closed  bool          // the offer gets no more slots in this round
}

// offersOf returns the offers of a job, which are made when the allocation first reaches the
// job.
func (a *allocation) offersOf(e *Entry) []*offer {
	if !e.offersMade {
		e.offersMade = true
		a.touch(e)
		for w := range sched.Wants(a.view.Job(e.Job)) {
			count, each := a.round.Usable(w)
			e.offers = append(e.offers, &offer{Want: w, usable: count, each: each})
		}
	}
	return e.offers
}

// open reports whether more slots of a kind can be granted.
func (o *offer) open(kind int) bool { return !o.closed && o.each[kind] > 0 && o.granted < o.usable }

// submit offers the granted slots to placement. It is called once.
func (o *offer) submit(round *placement.Round) {
	o.closed = true
	round.Offer(o.Want, o.granted)
}
