package sim

import "container/heap"

// queue holds what is to happen, by time, and among equal times in the order in
// which it was planned.
type queue struct {
	items happenings
	count uint64 // planned so far
}

// happening is something that comes to pass at a time.
type happening struct {
	at    int64
	order uint64
	do    func()
}

// plan has do called at a time.
func (q *queue) plan(at int64, do func()) {
	heap.Push(&q.items, happening{at, q.count, do})
	q.count++
}

// next is the time of the first happening; ok is false when there is none.
func (q *queue) next() (at int64, ok bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

func (q *queue) pop() happening { return heap.Pop(&q.items).(happening) }

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = happening{}
	*h = old[:len(old)-1]
	return last
}
