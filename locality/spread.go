package locality

import (
	"cmp"
	"container/heap"
)

// Affinity is what Spread knows of tasks that are all alike. Both slices go by
// machine; nil is all zeros.
type Affinity struct {
	Running []int   // tasks of the same stage that run there
	Bytes   []int64 // of their input that lie there
}

// Spread places tasks that are all alike and returns the machine of each. There
// are fewer when slots run out. A machine gets a second one only when each that
// has a free slot runs one, so no stage piles up where most of its input is;
// among machines with as many tasks it goes by bytes, then by load.
//
// Reduces are placed this way: every one reads from all maps, and how much of
// each partition lies where is not known until it is read, so they share the
// bytes of the map output evenly.
func Spread(machines []Machine, tasks int, a Affinity) []int {
	order := new(queue)
	for i, m := range machines {
		if m.Free > 0 {
			q := queued{machine: i, free: m.Free, used: m.Used}
			if a.Running != nil {
				q.here = a.Running[i]
			}
			if a.Bytes != nil {
				q.bytes = a.Bytes[i]
			}
			*order = append(*order, q)
		}
	}
	heap.Init(order)
	var at []int
	for len(at) < tasks && len(*order) > 0 {
		first := &(*order)[0]
		at = append(at, first.machine)
		first.free--
		first.used++
		if a.Running != nil {
			first.here++
		}
		if first.free == 0 {
			heap.Pop(order)
		} else {
			heap.Fix(order, 0)
		}
	}
	return at
}

// InOrder places tasks without a look at what they read: each takes a slot of
// the machine that is loaded least. It is the control arm of measurements.
func InOrder(machines []Machine, tasks int) []int {
	return Spread(machines, tasks, Affinity{})
}

type queued struct {
	machine, free, used, here int
	bytes                     int64
}

// queue is a heap with the machine whose turn it is at the top.
type queue []queued

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(queued)) }

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(a.here, b.here), -cmp.Compare(a.bytes, b.bytes),
		cmp.Compare(a.used, b.used), cmp.Compare(a.machine, b.machine)) < 0
}

func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
