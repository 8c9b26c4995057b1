// Package minheap is a binary heap of elements that have an order of their own.
//
//	h := append(minheap.Heap[event](nil), events...)
//	h.Init()
//	for len(h) > 0 {
//		next := h.Pop() // h[0] is the first of those left
//	}
package minheap

// Heap is a heap whose element 0 comes before all others, or equals them. Its zero value is empty.
type Heap[E interface{ Before(E) bool }] []E

// Init makes a heap of elements in any order.
func (h Heap[E]) Init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// Push adds an element.
func (h *Heap[E]) Push(e E) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].Before(s[up]) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

// Pop removes and returns element 0. The heap must not be empty.
func (h *Heap[E]) Pop() E {
	s, last := *h, len(*h)-1
	first := s[0]
	s[0] = s[last]
	clear(s[last:]) // it may keep memory alive
	*h = s[:last]
	h.FixFirst()
	return first
}

// FixFirst restores the order after a change of element 0.
func (h Heap[E]) FixFirst() { h.sink(0) }

// sink exchanges an element with the first of its children until it comes before them.
func (h Heap[E]) sink(i int) {
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if right := child + 1; right < len(h) && h[right].Before(h[child]) {
			child = right
		}
		if !h[child].Before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
