package sharetree

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Entry is a job, or a pool of other entries, to which slots are allocated. It must not be
// copied.
type Entry struct {
	Value any           // the caller's own data, for Compare, Rank and Limit
	Job   cluster.JobID // zero for a pool

	// Compare, of a pool, returns a negative number if a gets the next slot of a kind before
	// b. No two children are equal.
	Compare func(kind int, a, b *Entry) int

	// Rank, of a pool, returns the order for one allocation of the children that want slots
	// of a kind, which are in no order. If Rank is nil, Compare is the order.
	Rank func(kind int, children []*Entry) (compare func(a, b *Entry) int)

	// Limit, of a pool, returns the number of slots of a kind that the pool may get in one
	// allocation. If Limit is nil, there is no limit.
	Limit func(kind int) int

	parent      *Entry
	position    [2]int       // index in the parent's heaps, plus 1; 0 if it is in none
	heaps       [2]childHeap // heaps of a pool
	wantingJobs [2]int       // for a pool: number of jobs below it that want slots of a kind

	grant        // the state of the current allocation
	touched bool // grant is not zero
}

// grant contains the slots that an entry gets in one allocation.
type grant struct {
	granted     cluster.Slots
	grantedFree cluster.Slots // the part of granted that was free; the rest is reserved
	offers      []*offer      // offers of a job
	offersMade  bool          // offers is filled in
}

// Granted returns the slots that an entry has got in the current allocation, for
// Compare and Rank.
func (e *Entry) Granted() cluster.Slots { return e.granted }

// Join makes an entry a child of a pool. The entry must not want slots in its former pool.
func (e *Entry) Join(pool *Entry) { e.parent = pool }

// SetDemand sets how many slots an entry wants, and moves it to its place in the order of
// its pool. An entry without demand is in no heap.
func (e *Entry) SetDemand(waiting cluster.Slots) {
	if e.parent == nil {
		return
	}
	for kind, n := range waiting {
		h := &e.parent.heaps[kind]
		switch wants, listed := n > 0, e.position[kind] > 0; {
		case wants && listed:
			h.fix(e)
		case wants:
			h.add(e.parent, kind, e)
			e.countWanting(kind, 1)
		case listed:
			h.remove(e)
			e.countWanting(kind, -1)
		}
	}
}

// countWanting adds to the wantingJobs of all pools above a job.
func (e *Entry) countWanting(kind, n int) {
	if e.isPool() {
		return
	}
	for p := e.parent; p != nil; p = p.parent {
		p.wantingJobs[kind] += n
	}
}

// Reorder restores the order of all entries below a pool after many have changed.
func (e *Entry) Reorder() {
	for kind := range e.heaps {
		e.reorder(kind)
	}
}

// reorder restores the heap of one kind and, before it, the heaps of the pools in it, since
// the order of pools may depend on the demands of their jobs.
func (e *Entry) reorder(kind int) {
	h := &e.heaps[kind]
	for _, child := range h.entries {
		child.reorder(kind)
	}
	if h.sorted() {
		heap.Init(h)
	}
}

func (e *Entry) isPool() bool { return e.Compare != nil || e.Rank != nil }

// remaining returns how many times a job can get slots before a pool above it reaches its
// limit.
func (e *Entry) remaining(need cluster.Slots) int {
	times := sched.Unlimited
	for p := e.parent; p != nil; p = p.parent {
		for kind, n := range need {
			if n > 0 && p.Limit != nil {
				times = min(times, max(p.Limit(kind)-p.granted[kind], 0)/n)
			}
		}
	}
	return times
}

// full reports whether a pool has reached its limit.
func (e *Entry) full(kind int) bool { return e.Limit != nil && e.Limit(kind) <= e.granted[kind] }

// fix moves an entry to its place in the heaps that it is in.
func (e *Entry) fix() {
	if e.parent == nil {
		return
	}
	for kind := range e.parent.heaps {
		e.parent.heaps[kind].fix(e)
	}
}
