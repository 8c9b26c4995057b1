package deal

import (
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Seat is a job, or a pool of others, that slots are dealt to. It is not to be
// copied.
type Seat struct {
	Of  any           // whose it is, for Compare, Rank and Limit
	Job cluster.JobID // zero of a pool

	// Compare, of a pool, is less than 0 when the next slot of a kind is for a
	// rather than for b. No two in a pool are equal.
	Compare func(kind int, a, b *Seat) int

	// Rank, of a pool, makes an order for one deal among those who want slots of
	// a kind, which come in no order. nil has Compare count.
	Rank func(kind int, seats []*Seat) (compare func(a, b *Seat) int)

	// Limit, of a pool, is how many slots of a kind it may be given in a deal. nil
	// is any number.
	Limit func(kind int) int

	parent *Seat
	at     [2]int // place in the rows of parent, plus 1; 0 in none
	rows   [2]row // of a pool
	jobs   [2]int // of a pool: how many in it want slots of a kind

	hand         // what a deal does to it
	changed bool // hand says something
}

// hand is what a seat gets in one deal.
type hand struct {
	given  sched.Slots
	there  sched.Slots // of those, what was free
	offers []*offer    // of a job
	looked bool        // they are made
}

// Given is what a seat has got in the deal under way, for those who compare.
func (s *Seat) Given() sched.Slots { return s.given }

// Join seats somebody in a pool. Who was in another has left it.
func (s *Seat) Join(pool *Seat) { s.parent = pool }

// Sit takes over how many slots are wanted now, and where that puts a seat in its
// pool. Who wants none has left.
func (s *Seat) Sit(waiting sched.Slots) {
	if s.parent == nil {
		return
	}
	for kind, n := range waiting {
		r := &s.parent.rows[kind]
		switch wants, sits := n > 0, s.at[kind] > 0; {
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
func (s *Seat) count(kind, n int) {
	if s.isPool() {
		return
	}
	for p := s.parent; p != nil; p = p.parent {
		p.jobs[kind] += n
	}
}

// Reorder puts all in a pool, and in those within, where they belong, since many
// may stand elsewhere now.
func (s *Seat) Reorder() {
	for kind := range s.rows {
		s.reorder(kind)
	}
}

func (s *Seat) reorder(kind int) {
	r := &s.rows[kind]
	for _, child := range r.seats {
		child.reorder(kind)
	}
	if r.sorted() {
		heap.Init(r)
	}
}

func (s *Seat) isPool() bool { return s.Compare != nil || s.Rank != nil }

// room is how many times a job can have slots before a pool that it is in has all
// that it may.
func (s *Seat) room(need sched.Slots) int {
	room := int(^uint(0) >> 1)
	for p := s.parent; p != nil; p = p.parent {
		for kind, n := range need {
			if n > 0 && p.Limit != nil {
				room = min(room, max(p.Limit(kind)-p.given[kind], 0)/n)
			}
		}
	}
	return room
}

// full reports whether a pool may be given no more slots of a kind.
func (s *Seat) full(kind int) bool { return s.Limit != nil && s.Limit(kind) <= s.given[kind] }
