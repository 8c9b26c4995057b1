package sharetree

import "container/heap"

// childHeap is who in a pool wants slots of a kind: a heap by whose turn it is, or in
// any order while that is not known.
type childHeap struct {
	pool    *Entry // nil before somebody sits
	kind    int
	entries []*Entry
	rank    func(a, b *Entry) int // of Seat.Rank, for one deal
}

// sorted reports whether the row is a heap.
func (r *childHeap) sorted() bool { return r.pool != nil && (r.pool.Rank == nil || r.rank != nil) }

func (r *childHeap) add(pool *Entry, kind int, s *Entry) {
	r.pool, r.kind = pool, kind
	if r.Push(s); r.sorted() {
		heap.Fix(r, len(r.entries)-1)
	}
}

func (r *childHeap) remove(s *Entry) {
	i := s.position[r.kind] - 1
	if r.sorted() {
		heap.Remove(r, i)
		return
	}
	r.Swap(i, len(r.entries)-1)
	r.Pop()
}

// fix puts a seat that has changed where it belongs.
func (r *childHeap) fix(s *Entry) {
	if i := s.position[r.kind] - 1; i >= 0 && r.sorted() {
		heap.Fix(r, i)
	}
}

func (r *childHeap) Len() int { return len(r.entries) }

func (r *childHeap) Less(i, k int) bool {
	a, b := r.entries[i], r.entries[k]
	if r.rank != nil {
		return r.rank(a, b) < 0
	}
	return r.pool.Compare(r.kind, a, b) < 0
}

func (r *childHeap) Swap(i, k int) {
	r.entries[i], r.entries[k] = r.entries[k], r.entries[i]
	r.entries[i].position[r.kind], r.entries[k].position[r.kind] = i+1, k+1
}

// Push implements heap.Interface.
func (r *childHeap) Push(x any) {
	s := x.(*Entry)
	r.entries = append(r.entries, s)
	s.position[r.kind] = len(r.entries)
}

// Pop implements heap.Interface.
func (r *childHeap) Pop() any {
	last := len(r.entries) - 1
	s := r.entries[last]
	s.position[r.kind] = 0
	r.entries[last] = nil
	r.entries = r.entries[:last]
	return s
}
