package victim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// footprint returns the memory of an attempt, and the part of this memory that a checkpoint
// would write, in bytes; 0 if unknown.
func (f *Finder) footprint(a *cluster.Attempt) (memory, unwritten int64) {
	p, _ := f.View.Progress(a.ID)
	return p.Memory, p.Unwritten
}

// footprints returns the memory of attempts by machine, in the order in which the machines
// first occur.
func (f *Finder) footprints(together []*cluster.Attempt) (found []preempt.Footprint) {
	var machines []string
	for _, a := range together {
		i := slices.Index(machines, a.Machine)
		if i < 0 {
			i, machines = len(machines), append(machines, a.Machine)
			found = append(found, preempt.Footprint{Headroom: f.headroom(a.Machine)})
		}
		memory, unwritten := f.footprint(a)
		found[i].Memory += memory
		found[i].Unwritten += unwritten
	}
	return found
}

// headroom returns the memory that a machine has left, once each attempt to be
// suspended there has a replacement of its size; nil if unknown.
func (f *Finder) headroom(machine string) *preempt.MemHeadroom {
	r, ok := f.View.MemHeadroom(machine)
	if !ok {
		return nil
	}
	r.Free -= f.claimedMemory[machine]
	return &r
}
