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

// holdings are what attempts hold, by machine, in their order.
func (f *Finder) holdings(together []*cluster.Attempt) (held []preempt.Holding) {
	var machines []string
	for _, a := range together {
		i := slices.Index(machines, a.Machine)
		if i < 0 {
			i, machines = len(machines), append(machines, a.Machine)
			held = append(held, preempt.Holding{Room: f.room(a.Machine)})
		}
		memory, unwritten := f.footprint(a)
		held[i].Memory += memory
		held[i].Unwritten += unwritten
	}
	return held
}

// room is the memory that a machine has for more, once each attempt that is to stand
// still there has another of its size beside it; nil when that is unknown.
func (f *Finder) room(machine string) *preempt.Room {
	r, ok := f.View.Room(machine)
	if !ok {
		return nil
	}
	r.Free -= f.claimed[machine]
	return &r
}
