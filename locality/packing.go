package locality

import (
	"cmp"
	"slices"
)

// maxTries bounds how many places are tried for the groups of several slots of
// one bundle in one scope. A flow for those of one slot counts as flowTries.
const (
	maxTries  = 2000
	flowTries = 100
)

// packing is groups of a bundle that are being placed.
type packing struct {
	*bundle
	free  []Slots // by machine in scope, without what has been placed
	at    []int   // by group
	tries int     // that are left
}

// isHopeless reports whether slots are too few whoever goes where.
func (p *packing) isHopeless() bool {
	var total Slots
	rooms := make([]int, len(p.shapes))
	for _, free := range p.free {
		for kind, n := range free {
			total[kind] += max(n, 0)
		}
		for i, s := range p.shapes {
			rooms[i] += s.slots.Times(free)
		}
	}
	for i, s := range p.shapes {
		if rooms[i] < s.count {
			return true
		}
	}
	return !p.need.fitsInto(total)
}

// placeLarge places the large groups from the n-th on, and after them those of
// one slot.
func (p *packing) placeLarge(n int) bool {
	if n == len(p.large) {
		p.tries -= flowTries
		return p.placeSingles()
	}
	group := p.large[n]
	slots := p.groups[group].Slots
	var failed []Slots
	for _, m := range p.candidates(group) {
		if p.tries--; p.tries < 0 {
			return false
		}
		free := p.free[m]
		if !p.picky && slices.Contains(failed, free) {
			continue // a machine with as much room was of no use
		}
		p.at[group], p.free[m] = m, free.minus(slots)
		if p.placeLarge(n + 1) {
			return true
		}
		p.free[m] = free
		failed = append(failed, free)
	}
	return false
}

// candidates are the machines with room for a group, those nearest to what it
// reads first, among such those with the least room.
func (p *packing) candidates(group int) (machines []int) {
	for m, free := range p.free {
		if p.groups[group].Slots.fitsInto(free) && !p.avoids(group, m) {
			machines = append(machines, m)
		}
	}
	slices.SortStableFunc(machines, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.cost(group, a), p.cost(group, b)), cmp.Compare(p.free[a].sum(), p.free[b].sum()))
	})
	return machines
}

// placeSingles places the groups of one slot and reports whether there is room
// for all.
func (p *packing) placeSingles() bool {
	for kind, singles := range p.singles {
		if len(singles) == 0 {
			continue
		}
		demand := Demand{Grant: len(singles)}
		for _, g := range singles {
			demand.Tasks = append(demand.Tasks, p.groups[g].Task)
		}
		machines, places := p.machinesOf(kind)
		starts := p.topology.Flow(machines, []Demand{demand})
		for _, s := range starts {
			p.at[singles[s.Task]] = places[s.Machine]
		}
		if len(starts) < len(singles) {
			return false
		}
	}
	return true
}

// machinesOf is the machines in scope that have slots of a kind left, as Flow
// takes them, and which they are.
func (p *packing) machinesOf(kind int) (machines []Machine, places []int) {
	for i, m := range p.machines {
		free, room := p.free[i][kind], p.rooms[i]
		if free > 0 {
			m.Free, m.Used = free, room.Free[kind]+room.Used[kind]-free
			machines, places = append(machines, m), append(places, i)
		}
	}
	return machines, places
}
