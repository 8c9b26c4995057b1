package sim

import "container/heap"

// queue holds planned actions by time; those of the same time are in the order of planning.
// The order of planning breaks ties, which makes runs reproducible.
type queue struct {
	items actionHeap
	count uint64 // planned so far, for order
}

// plannedAction is called at a time.
type plannedAction struct {
	at    int64
	order uint64
	do    func()
}

// plan calls do at a time.
func (q *queue) plan(at int64, do func()) {
	heap.Push(&q.items, plannedAction{at, q.count, do})
	q.count++
}

// next returns the time of the first action; ok is false if there is none.
func (q *queue) next() (at int64, ok bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

func (q *queue) pop() plannedAction { return heap.Pop(&q.items).(plannedAction) }

type actionHeap []plannedAction

func (h actionHeap) Len() int { return len(h) }
func (h actionHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h actionHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *actionHeap) Push(x any)   { *h = append(*h, x.(plannedAction)) }
func (h *actionHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = plannedAction{}
	*h = old[:len(old)-1]
	return last
}
