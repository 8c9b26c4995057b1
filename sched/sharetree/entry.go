package sharetree

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Entry is a job, or a pool of others, that slots are dealt to. It is not to be
// copied.
type Entry struct {
	Value any           // whose it is, for Compare, Rank and Limit
	Job   cluster.JobID // zero of a pool

	// Compare, of a pool, is less than 0 when the next slot of a kind is for a
	// rather than for b. No two in a pool are equal.
	Compare func(kind int, a, b *Entry) int

	// Rank, of a pool, makes an order for one deal among those who want slots of
	// a kind, which come in no order. nil has Compare count.
	Rank func(kind int, seats []*Entry) (compare func(a, b *Entry) int)

	// Limit, of a pool, is how many slots of a kind it may be given in a deal. nil
	// is any number.
	Limit func(kind int) int

	parent      *Entry
	position    [2]int       // place in the rows of parent, plus 1; 0 in none
	heaps       [2]childHeap // of a pool
	wantingJobs [2]int       // of a pool: how many in it want slots of a kind

	grant        // what a deal does to it
	touched bool // hand says something
}

// grant is what a seat gets in one deal.
type grant struct {
	granted     sched.Slots
	grantedFree sched.Slots // of those, what was free
	offers      []*offer    // of a job
	offersMade  bool        // they are made
}

// Granted is what a seat has got in the deal under way, for those who compare.
func (s *Entry) Granted() sched.Slots { return s.granted }

// Join seats somebody in a pool. Who was in another has left it.
func (s *Entry) Join(pool *Entry) { s.parent = pool }

// SetDemand takes over how many slots are wanted now, and where that puts a seat in its
// pool. Who wants none has left.
func (s *Entry) SetDemand(waiting sched.Slots) {
	if s.parent == nil {
		return
	}
	for kind, n := range waiting {
		r := &s.parent.heaps[kind]
		switch wants, sits := n > 0, s.position[kind] > 0; {
		case wants && sits:
			r.fix(s)
		case wants:
			r.add(s.parent, kind, s)
			s.count(kind, 1)
		case sits:
			r.remove(s)
			s.count(kind, -1)
		}
	}
}

// count tells all pools around a job that it wants slots, or no longer.
func (s *Entry) count(kind, n int) {
	if s.isPool() {
		return
	}
	for p := s.parent; p != nil; p = p.parent {
		p.wantingJobs[kind] += n
	}
}

// Reorder puts all in a pool, and in those within, where they belong, since many
// may stand elsewhere now.
func (s *Entry) Reorder() {
	for kind := range s.heaps {
		s.reorder(kind)
	}
}

func (s *Entry) reorder(kind int) {
	r := &s.heaps[kind]
	for _, child := range r.entries {
		child.reorder(kind)
	}
	if r.sorted() {
		heap.Init(r)
	}
}

func (s *Entry) isPool() bool { return s.Compare != nil || s.Rank != nil }

// remaining is how many times a job can have slots before a pool that it is in has all
// that it may.
func (s *Entry) remaining(need sched.Slots) int {
	room := int(^uint(0) >> 1)
	for p := s.parent; p != nil; p = p.parent {
		for kind, n := range need {
			if n > 0 && p.Limit != nil {
				room = min(room, max(p.Limit(kind)-p.granted[kind], 0)/n)
			}
		}
	}
	return room
}

// full reports whether a pool may be given no more slots of a kind.
func (s *Entry) full(kind int) bool { return s.Limit != nil && s.Limit(kind) <= s.granted[kind] }
