package placement

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// reservation keeps free slots for bundles that need several slots at once. Without it a
// stream of small tasks would take every slot before enough are free. The comment at
// cluster.Bundle shows the states of a gang.
//
// A reservation must not cause a deadlock. Running tasks may read output that other tasks
// have not written yet. If the bundles wait for the slots of such readers, the tasks that
// the readers wait for may take reserved slots: otherwise the readers would never end.
type reservation struct {
	slots  []machineSlots          // slots by machine that are still reserved
	memory []string                // machines whose memory is reserved
	exempt map[*cluster.Stage]bool // stages that may take the slots
}

// machineSlots counts slots of one machine, and the memory of the tasks in them.
type machineSlots struct {
	machine  string
	slots    cluster.Slots
	memoryMB int64 // MiB; not set in a reservation
}

// claim describes bundles of a class that could start if enough slots were free.
type claim struct {
	job        *cluster.Job
	class      *cluster.Bundle // class of the bundles
	need       cluster.Slots   // slots that each bundle needs
	bundles    int             // at least 1
	avoid      []string        // machines that they cannot use
	tasksAvoid bool            // some of their tasks avoid further machines
	needMemory bool            // slots would be free, but the machines lack memory
}

// count returns how many slots are reserved.
func (res *reservation) count() (n int) {
	for _, reserved := range res.slots {
		n += reserved.slots.Total()
	}
	return n
}

// countsOnly reports whether only the number of slots matters, not their machines.
func (c *claim) countsOnly() bool {
	return !c.tasksAvoid && !c.needMemory && !slices.ContainsFunc(c.class.Stages, func(s *cluster.Stage) bool {
		return s.Slots.Total() > 1
	})
}

// reserve keeps slots for bundles: as many as they need if any slots will do, otherwise all
// slots that the bundles may use on their machines. It also keeps slots of a kind that is
// not scarce, because they might be gone when scarce slots come free. If memory is what the
// bundles lack, it keeps the memory of all machines that they may use.
func (r *Round) reserve(c *claim) {
	res, need, count := new(reservation), c.need, c.countsOnly()
	var found cluster.Slots
	for m := range r.view.Machines() {
		if slices.Contains(c.avoid, m.Name) {
			continue
		}
		reserved := machineSlots{machine: m.Name, slots: r.freeOn(m)}
		for kind := range need {
			if count {
				reserved.slots[kind] = min(reserved.slots[kind], need[kind]*c.bundles-found[kind])
			} else if need[kind] == 0 {
				reserved.slots[kind] = 0
			} else {
				reserved.slots[kind] -= r.spareSlots(c, m, kind, reserved.slots[kind])
			}
			found[kind] += reserved.slots[kind]
		}
		res.add(reserved)
		if c.needMemory {
			res.memory = append(res.memory, m.Name)
		}
	}
	res.exempt = sched.Writers(r.view, func(kind int) bool { return need[kind] > 0 && (!count || found[kind] < need[kind]) })
	r.enforce(res)
}

// reserveOn keeps free slots that are needed on particular machines, and their memory.
func (r *Round) reserveOn(needs []machineSlots) {
	res := new(reservation)
	var lacks cluster.Slots
	for _, need := range needs {
		slots := r.freeOn(r.view.Machine(need.machine)).AtMost(need.slots)
		lacks = lacks.Plus(need.slots.Minus(slots))
		res.add(machineSlots{machine: need.machine, slots: slots})
		if need.memoryMB > 0 {
			res.memory = append(res.memory, need.machine)
		}
	}
	res.exempt = sched.Writers(r.view, func(kind int) bool { return lacks[kind] > 0 })
	r.enforce(res)
}

// add keeps slots of a machine, if there are any.
func (res *reservation) add(reserved machineSlots) {
	if !reserved.slots.IsZero() {
		res.slots = append(res.slots, reserved)
	}
}

// enforce puts a reservation into effect.
func (r *Round) enforce(res *reservation) {
	res.apply(r)
	r.reservations = append(r.reservations, res)
}

// spareSlots returns how many of a machine's free slots are left over if it runs as many
// tasks of the bundles as it can.
func (r *Round) spareSlots(c *claim, m *cluster.Machine, kind, free int) int {
	unit := c.class.Stages[0].Slots
	for _, s := range c.class.Stages {
		if s.Slots != unit {
			return 0
		}
	}
	others := m.Slots[kind] - free - r.tasksOn(c, m)*unit[kind]
	return min(free, max(m.Slots[kind]-unit.CountIn(m.Slots)*unit[kind]-others, 0))
}

// tasksOn returns how many tasks of the class a machine runs, or is to run.
func (r *Round) tasksOn(c *claim, m *cluster.Machine) (n int) {
	for _, a := range m.Attempts {
		id := a.ID.Task
		if id.Job == c.job.ID && slices.ContainsFunc(c.class.Stages, func(s *cluster.Stage) bool { return s.Code == id.Stage }) {
			n++
		}
	}
	for _, b := range r.bundles {
		if b.Job != c.job.ID || b.Class != c.class.Index {
			continue
		}
		for _, s := range b.Starts {
			if s.Machine == m.Name {
				n++
			}
		}
	}
	return n
}

// release frees the reserved slots that the stages may take. The caller offers them to
// the stages and then calls reapply. Without it the writers that readers wait for would
// find no slot.
func (r *Round) release(stages ...*cluster.Stage) (released []*reservation) {
	for _, res := range r.reservations {
		if slices.ContainsFunc(stages, func(s *cluster.Stage) bool { return res.exempt[s] }) {
			released = append(released, res)
		}
	}
	if len(released) > 0 {
		r.flush()
	}
	for _, res := range released {
		r.memory.block(res.memory, -1)
		for _, reserved := range res.slots {
			r.takeSlots(reserved.machine, reserved.slots.Times(-1))
		}
	}
	return released
}

// reapply reserves what is left of released slots.
func (r *Round) reapply(released []*reservation) {
	for _, res := range released {
		for i := range res.slots {
			reserved := &res.slots[i]
			free := r.freeOn(r.view.Machine(reserved.machine))
			reserved.slots = reserved.slots.AtMost(free)
		}
		res.apply(r)
	}
}

// apply takes the reserved slots and memory out of what can be given out.
func (res *reservation) apply(r *Round) {
	r.memory.block(res.memory, 1)
	for _, reserved := range res.slots {
		r.takeSlots(reserved.machine, reserved.slots)
	}
}
