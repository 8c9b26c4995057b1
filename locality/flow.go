package locality

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/hammr/hammr/locality/mincost"
)

// Flow places tasks by min-cost flow. No machine gets more than its free slots and no demand
// more than its grant. As many tasks start as both allow, except tasks that wait because of
// a quota. The starts are sorted by level, nearest first, then by machine, demand and task.
func (t *Topology) Flow(machines []Machine, demands []Demand) []Start {
	if t.network == nil {
		t.network = mincost.New()
	}
	t.network.Reset()
	f := &flow{machineIndex: newMachineIndex(t, machines), demands: demands, network: t.network}
	f.scale()
	f.addMachines()
	for d := range demands {
		f.addDemand(d)
	}
	f.network.Solve()
	return f.starts()
}

// loadSteps is the number of load steps of a machine. Among tasks that transfer equally many
// bytes, the flow prefers machines on a lower step.
const loadSteps = 4

// flow is one placement problem as a network.
type flow struct {
	*machineIndex
	demands []Demand
	network *mincost.Network

	shift   uint  // bytes are counted in units of 1<<shift
	perUnit int64 // cost of a unit of bytes, more than all load steps together
	later   int64 // cost of waiting, more than any load step
	never   int64 // cost of staying unscheduled, more than any placement; 0 if every task gets a slot

	slots    []mincost.Vertex // by machine: its free slots
	machine  map[mincost.Vertex]int
	anywhere *region            // region of tasks that avoid no machine; nil until needed
	regions  map[string]*region // by the set of avoided machines
	tasks    [][]mincost.Vertex // by demand and task
	stays    [][]mincost.Arc    // by demand and task: the arc for staying unscheduled; nil if every task gets a slot
}

// scale chooses units in which no sum of costs overflows an int64: the bytes of one task
// have up to 20 significant bits, or fewer for very many tasks if slots are scarce. A load
// step costs less than a unit even if all tasks pay it. Staying unscheduled costs more than
// moving every task as far as possible: if tasks avoid machines, one task may find a slot
// only if many others move.
func (f *flow) scale() {
	tasks, largest := 1, int64(1)
	for _, d := range f.demands {
		tasks += len(d.Tasks)
		for _, t := range d.Tasks {
			largest = max(largest, t.bytes())
		}
	}
	significant, scarce := 20, f.scarce()
	if scarce {
		significant = min(20, max(4, 56-3*bits.Len(uint(tasks))))
	}
	for largest>>f.shift >= 1<<significant {
		f.shift++
	}
	f.later = loadSteps + 2
	f.perUnit = int64(tasks)*(f.later+1) + 1
	if scarce {
		f.never = int64(tasks) * (f.units(2*largest) + f.later)
	}
}

// bytes returns how many bytes a task transfers if it starts far from all of them.
func (t Task) bytes() (sum int64) {
	for _, b := range t.Blocks {
		sum += b.weight()
	}
	return sum + t.checkpointBytes(sum)
}

// scarce reports whether some tasks may find no slot, because too few are free or some
// machines are avoided.
func (f *flow) scarce() bool {
	wanted := 0
	for _, d := range f.demands {
		if len(d.Avoid) > 0 || slices.ContainsFunc(d.Tasks, func(t Task) bool { return len(t.Avoid) > 0 }) {
			return true
		}
		if d.Quota == nil {
			wanted += min(d.Grant, len(d.Tasks))
		}
	}
	return wanted > f.free()
}

// free returns the number of free slots.
func (f *flow) free() (n int) {
	for _, m := range f.machines {
		n += m.Free
	}
	return n
}

// units converts bytes to units of cost. The result is at least 1 if bytes is not 0.
func (f *flow) units(bytes int64) int64 {
	if bytes == 0 {
		return 0
	}
	return max(bytes>>f.shift, 1) * f.perUnit
}

// addMachines adds a vertex for each machine, with arcs for its free slots.
func (f *flow) addMachines() {
	f.machine = make(map[mincost.Vertex]int, len(f.machines))
	for i, m := range f.machines {
		v := f.network.AddVertex()
		f.addSlots(v, m)
		f.slots = append(f.slots, v)
		f.machine[v] = i
	}
	f.regions = make(map[string]*region)
}

// region is the part of the cluster that is open to the tasks that avoid the same machines:
// a vertex for each rack and one for all racks.
type region struct {
	avoided  []int // ascending
	racks    []mincost.Vertex
	anywhere mincost.Vertex
}

// region returns the region for a set of avoided machines and creates it on first use.
func (f *flow) region(avoided []int) *region {
	if len(avoided) == 0 {
		if f.anywhere == nil {
			f.anywhere = f.addRegion(nil)
		}
		return f.anywhere
	}
	key := fmt.Sprint(avoided)
	if f.regions[key] == nil {
		f.regions[key] = f.addRegion(avoided)
	}
	return f.regions[key]
}

// addRegion adds the vertices of a region. Arcs run from anywhere to the racks and from a
// rack to its machines that have free slots. So a task needs only one arc for each level.
func (f *flow) addRegion(avoided []int) *region {
	r := &region{avoided: avoided}
	for range f.racks {
		r.racks = append(r.racks, f.network.AddVertex())
	}
	for i, v := range f.slots {
		if f.machines[i].Free > 0 && !r.avoids(i) {
			f.network.AddArc(r.racks[f.rackOf[i]], v, mincost.Unbounded, 0)
		}
	}
	r.anywhere = f.network.AddVertex()
	for _, rack := range r.racks {
		f.network.AddArc(r.anywhere, rack, mincost.Unbounded, 0)
	}
	return r
}

// avoids reports whether a machine is outside the region.
func (r *region) avoids(machine int) bool {
	_, found := slices.BinarySearch(r.avoided, machine)
	return found
}

// addSlots connects the free slots of a machine to the sink. The cost rises with the load.
// Every slot has a cost above 0; only staying unscheduled may cost 0.
func (f *flow) addSlots(v mincost.Vertex, m Machine) {
	all := m.Used + m.Free
	for used := m.Used; used < all; {
		step := used * loadSteps / all
		end := min((all*(step+1)+loadSteps-1)/loadSteps, all)
		f.network.AddArc(v, mincost.Sink, int64(end-used), int64(step+1))
		used = end
	}
}

// addDemand adds a vertex for each task of a demand, with a unit to route. A task that gets
// no slot routes its unit to the sink by another arc. The kind of arc depends on the demand:
//
//	fewer granted than wait     stay, at no cost
//	a quota                     later: wait for a near slot, a little dearer than the farthest
//	slots may not fit           never, dearer than everything else
func (f *flow) addDemand(d int) {
	demand := f.demands[d]
	var stay mincost.Vertex
	patient := make(map[int]mincost.Vertex)
	switch {
	case demand.Quota != nil:
		patient = f.addQuota(demand.Quota)
	case demand.Grant < len(demand.Tasks):
		stay = f.network.AddVertex()
		f.network.AddArc(stay, mincost.Sink, int64(len(demand.Tasks)-demand.Grant), 0)
	}
	nodes := make([]mincost.Vertex, len(demand.Tasks))
	var stays []mincost.Arc
	if stay != mincost.Sink {
		stays = make([]mincost.Arc, len(nodes))
	}
	for i, t := range slices.Backward(demand.Tasks) { // of tasks with equal costs, the last ones stay unscheduled
		nodes[i] = f.network.AddVertex()
		farthest := f.addTask(nodes[i], t, f.region(f.avoided(demand, t)), patient)
		switch {
		case demand.Quota != nil:
			f.network.AddArc(nodes[i], mincost.Sink, 1, farthest+f.later)
		case stay != mincost.Sink:
			stays[i] = f.network.AddArc(nodes[i], stay, 1, 0)
		}
		if demand.Quota == nil && f.never > 0 {
			f.network.AddArc(nodes[i], mincost.Sink, 1, f.never)
		}
		f.network.AddSupply(nodes[i], 1)
	}
	f.tasks, f.stays = append(f.tasks, nodes), append(f.stays, stays)
}

// addQuota adds, for each machine, a vertex for the tasks that it is to run now or later.
func (f *flow) addQuota(quota []int) map[int]mincost.Vertex {
	patient := make(map[int]mincost.Vertex, len(quota))
	for i, q := range quota {
		v := f.network.AddVertex()
		if free := f.machines[i].Free; free > 0 {
			f.network.AddArc(v, f.slots[i], int64(free), 0)
		}
		if later := q - f.machines[i].Free; later > 0 {
			f.network.AddArc(v, mincost.Sink, int64(later), f.later)
		}
		patient[i] = v
	}
	return patient
}

// addTask connects a task to the machine of its checkpoint, to the locations of its input
// and to the rest of the cluster. It returns the cost of the farthest placement.
func (f *flow) addTask(v mincost.Vertex, t Task, r *region, patient map[int]mincost.Vertex) (farthest int64) {
	total, machines, racks := f.costBytes(t)
	for _, s := range machines {
		if r.avoids(s.place) {
			continue
		}
		cost := f.units(2*total - shareOf(racks, f.rackOf[s.place]) - s.bytes)
		to, ok := patient[s.place]
		if !ok {
			to = f.slots[s.place]
		}
		f.network.AddArc(v, to, 1, cost)
	}
	for _, s := range racks {
		f.network.AddArc(v, r.racks[s.place], 1, f.units(2*total-s.bytes))
	}
	f.network.AddArc(v, r.anywhere, 1, f.units(2*total))
	return f.units(2 * total)
}

// starts returns the tasks that the flow has assigned to slots.
func (f *flow) starts() []Start {
	var out []Start
	trace := f.network.Trace()
	for d, nodes := range f.tasks {
		for i, v := range nodes {
			if stays := f.stays[d]; stays != nil && f.network.Flow(stays[i]) > 0 {
				continue
			}
			if m, ok := f.machine[trace.Last(v)]; ok {
				out = append(out, Start{d, i, m, f.level(f.demands[d].Tasks[i], m)})
			}
		}
	}
	slices.SortFunc(out, func(a, b Start) int {
		return cmp.Or(-cmp.Compare(a.Level, b.Level), cmp.Compare(a.Machine, b.Machine),
			cmp.Compare(a.Demand, b.Demand), cmp.Compare(a.Task, b.Task))
	})
	return out
}
