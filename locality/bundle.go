package locality

import (
	"cmp"
	"slices"
)

// Bundle places a gang: groups that are joined by TCP and so start together or
// not at all. It returns the machine of each group; ok is false when they do
// not all fit now.
//
// They are placed close to each other, since what they send each other is as a
// rule more than what they read: on one machine if one has room, else in one
// rack, else anywhere. Among machines, racks and places in them it goes by the
// bytes that travel. Groups of several slots are placed first, the largest
// before others, each where its bytes are nearest; then those of one slot by
// min-cost flow. With several large groups a fit may be missed that exists.
func (t *Topology) Bundle(machines []Machine, groups []Group) (at []int, ok bool) {
	b := &bundle{places: newPlaces(t, machines), groups: groups}
	if at, ok = b.onOneMachine(); ok {
		return at, true
	}
	best := int64(-1)
	for r := range b.racks {
		inRack := func(m int) bool { return b.rackOf[m] == r }
		if found, cost, fits := b.within(inRack); fits && (best < 0 || cost < best) {
			at, ok, best = found, true, cost
		}
	}
	if ok {
		return at, true
	}
	at, _, ok = b.within(func(int) bool { return true })
	return at, ok
}

type bundle struct {
	*places
	groups []Group
}

func (b *bundle) slots() (n int) {
	for _, g := range b.groups {
		n += g.slots()
	}
	return n
}

// onOneMachine finds the machine with room for all that is nearest to what they
// read, and among such the one that is loaded least.
func (b *bundle) onOneMachine() (at []int, ok bool) {
	need, best, least := b.slots(), -1, int64(0)
	for i, m := range b.machines {
		if m.Free < need {
			continue
		}
		var cost int64
		for _, g := range b.groups {
			cost += b.distance(g.Task, i)
		}
		if best < 0 || cost < least || cost == least && m.Used < b.machines[best].Used {
			best, least = i, cost
		}
	}
	if best < 0 {
		return nil, false
	}
	return slices.Repeat([]int{best}, len(b.groups)), true
}

// within places the groups on machines that are in scope, and tells how many
// bytes travel how far.
func (b *bundle) within(scope func(machine int) bool) (at []int, cost int64, ok bool) {
	left, total := slices.Clone(b.machines), 0
	for i := range left {
		if !scope(i) {
			left[i].Free = 0
		}
		total += left[i].Free
	}
	if total < b.slots() {
		return nil, 0, false
	}
	at = make([]int, len(b.groups))
	var singles []int
	for _, g := range b.bySize() {
		if b.groups[g].slots() <= 1 {
			singles = append(singles, g)
			continue
		}
		m := b.nearestWithRoom(g, left)
		if m < 0 {
			return nil, 0, false
		}
		at[g] = m
		left[m].Free -= b.groups[g].slots()
		left[m].Used += b.groups[g].slots()
	}
	b.placeSingles(singles, left, at)
	for g, m := range at {
		cost += b.distance(b.groups[g].Task, m)
	}
	return at, cost, true
}

// placeSingles fills at for groups of one slot, for which there is room.
func (b *bundle) placeSingles(singles []int, left []Machine, at []int) {
	demand := Demand{Grant: len(singles)}
	for _, g := range singles {
		demand.Tasks = append(demand.Tasks, b.groups[g].Task)
	}
	for _, s := range b.topology.Flow(left, []Demand{demand}) {
		at[singles[s.Task]] = s.Machine
	}
}

// bySize is the groups with the largest first.
func (b *bundle) bySize() []int {
	order := make([]int, len(b.groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return -cmp.Compare(b.groups[x].slots(), b.groups[y].slots()) })
	return order
}

// nearestWithRoom is the machine with room for group g that is nearest to what
// it reads, among such the one that has the least room; -1 when there is none.
func (b *bundle) nearestWithRoom(g int, left []Machine) int {
	best, least := -1, int64(0)
	for i, m := range left {
		if m.Free < b.groups[g].slots() {
			continue
		}
		cost := b.distance(b.groups[g].Task, i)
		if best < 0 || cost < least || cost == least && m.Free < left[best].Free {
			best, least = i, cost
		}
	}
	return best
}

func (g Group) slots() int { return max(g.Slots, 1) }
