package jobmaster

import "github.com/hammr/hammr/cluster"

// slotFacts are sums and maxima over all machines.
type slotFacts struct {
	alive     int // machines that are not lost
	all, free cluster.Slots

	largestMB int64    // most memory that a machine offers to tasks, in MiB
	present   bool     // a machine takes tasks
	freeMB    [2]int64 // most memory that is left on a machine with a free slot, by kind, in MiB; 0 without such a machine
}

// slots returns them. They are computed once for each applied batch, because a list of
// jobs needs them for each job that waits.
func (m *Master) slots() *slotFacts {
	if m.facts == nil {
		f := new(slotFacts)
		for machine := range m.view.Machines() {
			f.all, f.free = f.all.Plus(machine.Slots), f.free.Plus(machine.FreeSlots())
			if !machine.Lost {
				f.alive++
			}
			if machine.TakesTasks() {
				f.largestMB, f.present = max(f.largestMB, machine.TotalMemoryMB()), true
			}
		}
		for kind := range f.freeMB {
			for machine := range m.view.MachinesWithFree(cluster.Slot(kind)) {
				f.freeMB[kind] = max(f.freeMB[kind], machine.FreeMemoryMB())
			}
		}
		m.facts = f
	}
	return m.facts
}
