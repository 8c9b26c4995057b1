package victim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// footprint is what an attempt holds in memory, and what of that it would have to
// write, in bytes; 0 when that is unknown.
func (f *Finder) footprint(a *cluster.Attempt) (memory, unwritten int64) {
	p, _ := f.View.Progress(a.ID)
	return p.Memory, p.Unwritten
}

// footprints are what attempts hold, by machine, in their order.
func (f *Finder) footprints(together []*cluster.Attempt) (held []preempt.Footprint) {
	var machines []string
	for _, a := range together {
		i := slices.Index(machines, a.Machine)
		if i < 0 {
			i, machines = len(machines), append(machines, a.Machine)
			held = append(held, preempt.Footprint{Headroom: f.headroom(a.Machine)})
		}
		memory, unwritten := f.footprint(a)
		held[i].Memory += memory
		held[i].Unwritten += unwritten
	}
	return held
}

// headroom is the memory that a machine has for more, once each attempt that is to stand
// still there has another of its size beside it; nil when that is unknown.
func (f *Finder) headroom(machine string) *preempt.MemHeadroom {
	r, ok := f.View.MemHeadroom(machine)
	if !ok {
		return nil
	}
	r.Free -= f.claimedMemory[machine]
	return &r
}
