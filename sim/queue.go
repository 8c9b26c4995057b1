package sim

import "github.com/hammr/hammr/internal/kit/minheap"

// queue holds planned actions by time; those of the same time are in the order of planning.
// The order of planning breaks ties, which makes runs reproducible.
type queue struct {
	items minheap.Heap[plannedAction]
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
	q.items.Push(plannedAction{at, q.count, do})
	q.count++
}

// next returns the time of the first action; ok is false if there is none.
func (q *queue) next() (at int64, ok bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

func (q *queue) pop() plannedAction { return q.items.Pop() }

func (a plannedAction) Before(b plannedAction) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}
