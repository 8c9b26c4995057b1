package locality

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/dag"
)

// GangPlacer places gangs: groups that are connected by TCP, so they start together or not
// at all. It is valid until the topology changes.
type GangPlacer struct{ places *machineIndex }

// GangPlacer returns a placer for the given machines. The free slots are passed to its
// methods; it ignores Machine.Free and Machine.Used.
func (t *Topology) GangPlacer(machines []Machine) *GangPlacer {
	return &GangPlacer{newMachineIndex(t, machines)}
}

// Place returns the machine of each group of a gang; ok is false if they do not all fit now.
//
// Groups with checkpoints are placed by the bytes they transfer, so each goes to the machine
// of its checkpoint if it has free slots. Other groups are placed close to each other, because
// they usually exchange more data than they read: on one machine if possible, else in one
// rack, else anywhere. Machines and racks are compared by the bytes to transfer, then by the
// load.
//
// Place first assigns groups of several slots, the largest first, each where its bytes are
// nearest, and then groups of one slot by min-cost flow. The transfer is minimal if each
// group has one slot and memory is not scarce, or if all groups are on one machine.
//
// If the last groups do not fit, Place tries other machines for the first ones, up to a
// bound. With many groups of different sizes it may miss a solution. With groups of equal
// size, or of one slot that avoid no machine, it always finds a solution if there is one.
func (p *GangPlacer) Place(machineSlots []MachineSlots, groups []Group) (at []int, ok bool) {
	b := newGangPlacement(p.places, machineSlots, groups)
	everywhere := func(int) bool { return true }
	if slices.ContainsFunc(groups, func(g Group) bool { return g.CheckpointOn != "" }) {
		at, _, ok = b.within(everywhere)
		return at, ok
	}
	if at, ok = b.onOneMachine(); ok {
		return at, true
	}
	if len(b.racks) > 1 {
		at, ok = b.inOneRack()
	}
	if !ok {
		at, _, ok = b.within(everywhere)
	}
	return at, ok
}

// Fits reports whether Place finds machines for the groups.
func (p *GangPlacer) Fits(machineSlots []MachineSlots, groups []Group) bool {
	b := newGangPlacement(p.places, machineSlots, groups)
	if !b.anyAvoids && b.needMB == 0 {
		b.singles = [2][]int{} // the groups of one slot are not placed: counting their slots suffices
	}
	_, _, ok := b.within(func(int) bool { return true })
	return ok
}

// Level returns how near a task is to its input on a machine.
func (p *GangPlacer) Level(t Task, machine int) Level { return p.places.level(t, machine) }

// gangPlacement is the placement of one gang.
type gangPlacement struct {
	*machineIndex
	machineSlots []MachineSlots
	groups       []Group

	need      dag.Slots
	needMB    int64     // sum of the memory of all groups, MiB
	costs     [][]int64 // by group and machine: bytes times distance; nil if there are none
	avoid     [][]int   // by group: machines on which it must not start, ascending
	anyAvoids bool      // a group avoids a machine

	large   []int    // groups of several slots, the largest first
	singles [2][]int // groups of one slot, by its kind
	shapes  []shape  // sizes of the large groups
}

// shape counts the groups that need the same slots.
type shape struct {
	slots dag.Slots
	count int
}

// newGangPlacement computes the values that all attempts at placing a gang share.
func newGangPlacement(p *machineIndex, machineSlots []MachineSlots, groups []Group) *gangPlacement {
	b := &gangPlacement{machineIndex: p, machineSlots: machineSlots, groups: groups}
	for i, g := range groups {
		b.need, b.needMB = b.need.Plus(g.Slots), b.needMB+g.MemoryMB
		b.costs = append(b.costs, p.costs(g.Task))
		b.avoid = append(b.avoid, p.avoided(Demand{}, g.Task))
		b.anyAvoids = b.anyAvoids || len(b.avoid[i]) > 0
		b.sort(i)
	}
	slices.SortStableFunc(b.large, func(x, y int) int { return -cmp.Compare(groups[x].Slots.Total(), groups[y].Slots.Total()) })
	return b
}

// sort inserts a group among the groups of its size.
func (b *gangPlacement) sort(group int) {
	slots := b.groups[group].Slots
	if slots.Total() == 1 {
		kind := slices.Index(slots[:], 1)
		b.singles[kind] = append(b.singles[kind], group)
		return
	}
	b.large = append(b.large, group)
	for i := range b.shapes {
		if b.shapes[i].slots == slots {
			b.shapes[i].count++
			return
		}
	}
	b.shapes = append(b.shapes, shape{slots, 1})
}

// costs returns the distances of a task by machine; nil if all are equal.
func (p *machineIndex) costs(t Task) []int64 {
	if t.isIndifferent() {
		return nil
	}
	total, machines, racks := p.costBytes(t)
	costs := make([]int64, len(p.machines))
	byRack := slices.Repeat([]int64{2 * total}, len(p.racks))
	for _, s := range racks {
		byRack[s.place] -= s.bytes
	}
	for m := range costs {
		costs[m] = byRack[p.rackOf[m]]
	}
	for _, s := range machines {
		costs[s.place] -= s.bytes
	}
	return costs
}

// cost returns the distance of a group on a machine.
func (b *gangPlacement) cost(group, machine int) int64 {
	if b.costs[group] == nil {
		return 0
	}
	return b.costs[group][machine]
}

// avoids reports whether a group must not start on a machine.
func (b *gangPlacement) avoids(group, machine int) bool {
	_, found := slices.BinarySearch(b.avoid[group], machine)
	return found
}

// onOneMachine finds the machine with enough slots for all groups that is nearest to their
// input. Of equally near machines it takes the least loaded.
func (b *gangPlacement) onOneMachine() (at []int, ok bool) {
	best, least := -1, int64(0)
	for m, slots := range b.machineSlots {
		if !b.need.FitsIn(slots.Free) || b.needMB > 0 && b.needMB > slots.FreeMB || b.avoidedBySome(m) {
			continue
		}
		var cost int64
		for g := range b.groups {
			cost += b.cost(g, m)
		}
		if best < 0 || cost < least || cost == least && slots.Used.Total() < b.machineSlots[best].Used.Total() {
			best, least = m, cost
		}
	}
	if best < 0 {
		return nil, false
	}
	return slices.Repeat([]int{best}, len(b.groups)), true
}

// avoidedBySome reports whether any group must not start on a machine.
func (b *gangPlacement) avoidedBySome(machine int) bool {
	for g := range b.groups {
		if b.avoids(g, machine) {
			return true
		}
	}
	return false
}

// inOneRack finds the rack with the lowest transfer cost.
func (b *gangPlacement) inOneRack() (at []int, ok bool) {
	var least int64
	for r := range b.racks {
		inRack := func(m int) bool { return b.rackOf[m] == r }
		if found, cost, fits := b.within(inRack); fits && (!ok || cost < least) {
			at, least, ok = found, cost, true
		}
	}
	return at, ok
}

// within places the groups on machines in scope, and returns the transfer cost.
func (b *gangPlacement) within(scope func(machine int) bool) (at []int, cost int64, ok bool) {
	p := &packing{gangPlacement: b, free: make([]capacity, len(b.machineSlots)), at: make([]int, len(b.groups)), tries: maxTries}
	for m, slots := range b.machineSlots {
		if scope(m) {
			p.free[m] = capacity{slots.Free, slots.FreeMB}
		}
	}
	if p.isHopeless() || !p.placeLarge(0) {
		return nil, 0, false
	}
	for g, m := range p.at {
		cost += b.cost(g, m)
	}
	return p.at, cost, true
}

// MachineSlots contains the slots and the free memory of a machine.
type MachineSlots struct {
	Free   dag.Slots // available for assignment
	Used   dag.Slots // occupied
	FreeMB int64     // memory available for assignment, MiB
}

// Group is a set of tasks that run together in slots of one machine.
type Group struct {
	Task
	Slots    dag.Slots // at least one
	MemoryMB int64     // memory that it takes, MiB; 0 for none. Groups of one slot of a kind take the same
}
