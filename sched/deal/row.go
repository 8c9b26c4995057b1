package deal

import "container/heap"

// row is who in a pool wants slots of a kind: a heap by whose turn it is, or in
// any order while that is not known.
type row struct {
	pool  *Seat // nil before somebody sits
	kind  int
	seats []*Seat
	rank  func(a, b *Seat) int // of Seat.Rank, for one deal
}

// sorted reports whether the row is a heap.
func (r *row) sorted() bool { return r.pool != nil && (r.pool.Rank == nil || r.rank != nil) }

func (r *row) add(pool *Seat, kind int, s *Seat) {
	r.pool, r.kind = pool, kind
	if r.Push(s); r.sorted() {
		heap.Fix(r, len(r.seats)-1)
	}
}

func (r *row) remove(s *Seat) {
	i := s.at[r.kind] - 1
	if r.sorted() {
		heap.Remove(r, i)
		return
	}
	r.Swap(i, len(r.seats)-1)
	r.Pop()
}

// fix puts a seat that has changed where it belongs.
func (r *row) fix(s *Seat) {
	if i := s.at[r.kind] - 1; i >= 0 && r.sorted() {
		heap.Fix(r, i)
	}
}

func (r *row) Len() int { return len(r.seats) }

func (r *row) Less(i, k int) bool {
	a, b := r.seats[i], r.seats[k]
	if r.rank != nil {
		return r.rank(a, b) < 0
	}
	return r.pool.Compare(r.kind, a, b) < 0
}

func (r *row) Swap(i, k int) {
	r.seats[i], r.seats[k] = r.seats[k], r.seats[i]
	r.seats[i].at[r.kind], r.seats[k].at[r.kind] = i+1, k+1
}

// Push implements heap.Interface.
func (r *row) Push(x any) {
	s := x.(*Seat)
	r.seats = append(r.seats, s)
	s.at[r.kind] = len(r.seats)
}

// Pop implements heap.Interface.
func (r *row) Pop() any {
	last := len(r.seats) - 1
	s := r.seats[last]
	s.at[r.kind] = 0
	r.seats[last] = nil
	r.seats = r.seats[:last]
	return s
}
