package sharetree

import "container/heap"

// childHeap contains the children of a pool that want slots of a kind. It is a heap whose
// first entry gets the next slot, or an unordered list while a Rank has not been built.
type childHeap struct {
	pool    *Entry // nil before the first child
	kind    int
	entries []*Entry
	rank    func(a, b *Entry) int // order from Entry.Rank, for one allocation
}

// sorted reports whether entries is a heap.
func (h *childHeap) sorted() bool { return h.pool != nil && (h.pool.Rank == nil || h.rank != nil) }

// add enters a child of the pool.
func (h *childHeap) add(pool *Entry, kind int, e *Entry) {
	h.pool, h.kind = pool, kind
	if h.Push(e); h.sorted() {
		heap.Fix(h, len(h.entries)-1)
	}
}

// remove takes out an entry that is in the heap.
func (h *childHeap) remove(e *Entry) {
	i := e.position[h.kind] - 1
	if h.sorted() {
		heap.Remove(h, i)
		return
	}
	h.Swap(i, len(h.entries)-1)
	h.Pop()
}

// fix moves an entry whose rank has changed to its place.
func (h *childHeap) fix(e *Entry) {
	if i := e.position[h.kind] - 1; i >= 0 && h.sorted() {
		heap.Fix(h, i)
	}
}

func (h *childHeap) Len() int { return len(h.entries) }

func (h *childHeap) Less(i, k int) bool {
	a, b := h.entries[i], h.entries[k]
	if h.rank != nil {
		return h.rank(a, b) < 0
	}
	return h.pool.Compare(h.kind, a, b) < 0
}

func (h *childHeap) Swap(i, k int) {
	h.entries[i], h.entries[k] = h.entries[k], h.entries[i]
	h.entries[i].position[h.kind], h.entries[k].position[h.kind] = i+1, k+1
}

// Push implements heap.Interface.
func (h *childHeap) Push(x any) {
	e := x.(*Entry)
	h.entries = append(h.entries, e)
	e.position[h.kind] = len(h.entries)
}

// Pop implements heap.Interface.
func (h *childHeap) Pop() any {
	last := len(h.entries) - 1
	e := h.entries[last]
	e.position[h.kind] = 0
	h.entries[last] = nil
	h.entries = h.entries[:last]
	return e
}
