package locality

import (
	"cmp"

	"github.com/hammr/hammr/internal/kit/minheap"
)

// Affinity is the input of Spread for tasks that are all alike. Both slices are indexed by
// machine; nil means all zeros.
type Affinity struct {
	Running []int   // running tasks of the same stage
	Bytes   []int64 // bytes of their input
}

// Spread places tasks that are all alike and returns the machine of each. It returns fewer
// if slots run out. A machine gets a second task only when every machine with a free slot
// has a task, so a stage does not concentrate where most of its input is. Among machines
// with equally many tasks it prefers those with more input bytes, then those with a lower
// load.
//
// Reduces are placed this way. Every reduce reads from all maps, and the location of each
// partition's bytes is unknown until they are read, so the bytes of the map output count
// evenly.
func Spread(machines []Machine, tasks int, a Affinity) []int {
	var order minheap.Heap[queued]
	for i, m := range machines {
		if m.Free > 0 {
			q := queued{machine: i, free: m.Free, used: m.Used}
			if a.Running != nil {
				q.here = a.Running[i]
			}
			if a.Bytes != nil {
				q.bytes = a.Bytes[i]
			}
			order = append(order, q)
		}
	}
	order.Init()
	var at []int
	for len(at) < tasks && len(order) > 0 {
		first := &order[0]
		at = append(at, first.machine)
		first.free--
		first.used++
		if a.Running != nil {
			first.here++
		}
		if first.free == 0 {
			order.Pop()
		} else {
			order.FixFirst()
		}
	}
	return at
}

// InOrder places tasks without regard to locality: each takes a slot of the least loaded
// machine. It is the baseline for measurements.
func InOrder(machines []Machine, tasks int) []int {
	return Spread(machines, tasks, Affinity{})
}

// queued is a machine with free slots. Its place in the queue depends on the tasks that it
// runs already.
type queued struct {
	machine, free, used, here int
	bytes                     int64
}

// Before implements minheap.Heap: the next machine comes first.
func (a queued) Before(b queued) bool {
	return cmp.Or(cmp.Compare(a.here, b.here), -cmp.Compare(a.bytes, b.bytes),
		cmp.Compare(a.used, b.used), cmp.Compare(a.machine, b.machine)) < 0
}
