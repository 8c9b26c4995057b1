package locality

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/dag"
)

// maxTries bounds how many machines are tried for the groups of several slots of one gang in
// one scope. A flow for the groups of one slot counts as flowTries.
const (
	maxTries  = 2000
	flowTries = 100

	maxDivided = 100_000 // machines times groups for which divideMemory looks
)

// packing is the search for machines for the groups of a gang.
type packing struct {
	*gangPlacement
	free  []capacity // by machine in scope: what is not assigned yet
	at    []int      // by group
	most  []int      // by machine: how many more groups of one slot of the second kind it gets; nil for no limit
	tries int        // tries left
}

// capacity is what a machine has left for the groups of a gang.
type capacity struct {
	slots    dag.Slots
	memoryMB int64 // MiB
}

// fits reports whether a group fits.
func (c capacity) fits(g Group) bool {
	return g.Slots.FitsIn(c.slots) && (g.MemoryMB == 0 || g.MemoryMB <= c.memoryMB)
}

// count returns how many equal groups of one slot of a kind fit.
func (c capacity) count(kind int, g Group) int {
	n := max(c.slots[kind], 0)
	if g.MemoryMB > 0 {
		n = int(min(int64(n), max(c.memoryMB, 0)/g.MemoryMB))
	}
	return n
}

// isHopeless reports whether there are too few slots for any assignment.
func (p *packing) isHopeless() bool {
	var total dag.Slots
	fitting := make([]int, len(p.shapes))
	for _, free := range p.free {
		for kind, n := range free.slots {
			total[kind] += max(n, 0)
		}
		for i, s := range p.shapes {
			fitting[i] += s.slots.CountIn(free.slots)
		}
	}
	for i, s := range p.shapes {
		if fitting[i] < s.count {
			return true
		}
	}
	return !p.need.FitsIn(total)
}

// placeLarge places the large groups from the n-th on, and then the groups of one slot.
func (p *packing) placeLarge(n int) bool {
	if n == len(p.large) {
		p.most = nil
		if p.tryPlaceSingles(0, 1) {
			return true
		}
		p.most = p.divideMemory()
		return p.most != nil && p.tryPlaceSingles(1, 0)
	}
	group := p.large[n]
	var failed []capacity
	for _, m := range p.candidates(group) {
		if p.tries--; p.tries < 0 {
			return false
		}
		free := p.free[m]
		if !p.anyAvoids && slices.Contains(failed, free) {
			continue // a machine with the same capacity has failed already
		}
		p.put(group, m)
		if p.placeLarge(n + 1) {
			return true
		}
		p.free[m] = free
		failed = append(failed, free)
	}
	return false
}

// candidates returns the machines with enough slots for a group: the nearest to its input
// first and, of equally near machines, the one with the fewest free slots first.
func (p *packing) candidates(group int) (machines []int) {
	for m, free := range p.free {
		if free.fits(p.groups[group]) && !p.avoids(group, m) {
			machines = append(machines, m)
		}
	}
	slices.SortStableFunc(machines, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.cost(group, a), p.cost(group, b)), cmp.Compare(p.free[a].slots.Total(), p.free[b].slots.Total()))
	})
	return machines
}

// tryPlaceSingles places the groups of one slot, in an order of their kinds, and reports whether
// all fit. If not, it changes nothing.
func (p *packing) tryPlaceSingles(kinds ...int) bool {
	free := slices.Clone(p.free)
	if p.tries -= flowTries; p.placeSingles(kinds) {
		return true
	}
	p.free = free
	return false
}

// divideMemory divides the memory of machines between the groups of one slot of both kinds. It returns how many of
// the second kind each machine gets, so that as many of the first as possible fit beside them; nil if
// not all groups fit, or if there are too many.
func (p *packing) divideMemory() []int {
	n := len(p.singles[1])
	if p.needMB == 0 || n == 0 || len(p.singles[0]) == 0 || n*len(p.free) > maxDivided {
		return nil
	}
	first, second := p.groups[p.singles[0][0]], p.groups[p.singles[1][0]]
	sums := slices.Repeat([]int{-1}, n+1) // by groups of the second kind on the machines so far: the most of the first
	sums[0] = 0
	chosen := make([][]int, len(p.free)) // by machine, and by groups of the second kind up to it: how many it has
	for m, free := range p.free {
		next := slices.Repeat([]int{-1}, n+1)
		chosen[m] = make([]int, n+1)
		for here := range min(free.count(1, second), n) + 1 {
			beside := capacity{free.slots, free.memoryMB - int64(here)*second.MemoryMB}.count(0, first)
			for k := here; k <= n; k++ {
				if sum := sums[k-here]; sum >= 0 && sum+beside > next[k] {
					next[k], chosen[m][k] = sum+beside, here
				}
			}
		}
		sums = next
	}
	if sums[n] < len(p.singles[0]) {
		return nil
	}
	most := make([]int, len(p.free))
	for m, of := range slices.Backward(chosen) {
		most[m] = of[n]
		n -= of[n]
	}
	return most
}

// placeSingles places the groups of one slot and reports whether all fit. Groups without a
// preferred machine take the slots that are left.
func (p *packing) placeSingles(kinds []int) bool {
	for _, kind := range kinds {
		singles := p.singles[kind]
		var demand Demand
		var choosy, others []int
		for _, g := range singles {
			if p.groups[g].isIndifferent() && len(p.avoid[g]) == 0 {
				others = append(others, g)
				continue
			}
			choosy = append(choosy, g)
			demand.Tasks = append(demand.Tasks, p.groups[g].Task)
		}
		demand.Grant = len(choosy)
		if !p.placeChoosy(kind, choosy, demand) || !p.placeOthers(kind, others) {
			return false
		}
	}
	return true
}

// placeChoosy places the groups of one slot that prefer or avoid machines, by min-cost
// flow.
func (p *packing) placeChoosy(kind int, groups []int, demand Demand) bool {
	if len(groups) == 0 {
		return true
	}
	machines, places := p.machinesOf(kind, p.groups[groups[0]])
	starts := p.topology.Flow(machines, []Demand{demand})
	for _, s := range starts {
		p.put(groups[s.Task], places[s.Machine])
	}
	return len(starts) == len(groups)
}

// placeOthers places the groups of one slot that can start anywhere, on the least loaded
// machines.
func (p *packing) placeOthers(kind int, groups []int) bool {
	if len(groups) == 0 {
		return true
	}
	machines, places := p.machinesOf(kind, p.groups[groups[0]])
	at := InOrder(machines, len(groups))
	for i, m := range at {
		p.put(groups[i], places[m])
	}
	return len(at) == len(groups)
}

// put assigns a group to a machine.
func (p *packing) put(group, machine int) {
	free, g := &p.free[machine], p.groups[group]
	p.at[group] = machine
	free.slots, free.memoryMB = free.slots.Minus(g.Slots), free.memoryMB-g.MemoryMB
	if p.most != nil {
		p.most[machine] -= g.Slots[1]
	}
}

// machinesOf returns the machines in scope on which groups of one slot of a kind like g fit, in
// the form that Flow takes, and their indexes.
func (p *packing) machinesOf(kind int, g Group) (machines []Machine, places []int) {
	for i, m := range p.machines {
		free, slots := p.free[i].count(kind, g), p.machineSlots[i]
		if kind == 1 && p.most != nil {
			free = min(free, p.most[i])
		}
		if free > 0 {
			m.Free, m.Used = free, slots.Free[kind]+slots.Used[kind]-free
			machines, places = append(machines, m), append(places, i)
		}
	}
	return machines, places
}
