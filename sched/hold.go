package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// reservation keeps free slots for bundles that wait for more of them at once. Without
// it a stream of small tasks would take every slot before there are enough.
//
// Running tasks may have to read what other tasks are still to write. When the
// bundles wait for slots of such readers, their writers may take slots that are
// held: else the readers would never end.
type reservation struct {
	slots  []machineSlots
	exempt map[*cluster.Stage]bool
}

// machineSlots is slots of one machine.
type machineSlots struct {
	machine string
	slots   locality.Slots
}

// claim is bundles of a class that could start if enough slots were free.
type claim struct {
	job        *cluster.Job
	class      *cluster.Bundle
	need       locality.Slots // of each
	bundles    int            // at least 1
	avoid      []string       // machines that are of no use to them
	tasksAvoid bool           // some of their tasks avoid further machines
}

// count is how many slots are held.
func (h *reservation) count() (n int) {
	for _, held := range h.slots {
		n += held.slots[cluster.MapSlot] + held.slots[cluster.ReduceSlot]
	}
	return n
}

// countsOnly reports whether any slots will do, if they are enough.
func (c *claim) countsOnly() bool {
	return !c.tasksAvoid && !slices.ContainsFunc(c.class.Stages, func(s *cluster.Stage) bool {
		return s.Slots[cluster.MapSlot]+s.Slots[cluster.ReduceSlot] > 1
	})
}

// reserve keeps slots for bundles: as many as they need when any slots do, else all
// that may come to be of use on their machine. It holds slots of which there are
// enough too, or they would be gone when the others are there.
func (r *Round) reserve(c *claim) {
	h, need, count := new(reservation), c.need, c.countsOnly()
	var found locality.Slots
	for m := range r.view.Machines() {
		if slices.Contains(c.avoid, m.Name) {
			continue
		}
		held := machineSlots{m.Name, r.freeOn(m)}
		for kind := range need {
			if count {
				held.slots[kind] = min(held.slots[kind], need[kind]*c.bundles-found[kind])
			} else if need[kind] == 0 {
				held.slots[kind] = 0
			} else {
				held.slots[kind] -= r.spareSlots(c, m, kind, held.slots[kind])
			}
			found[kind] += held.slots[kind]
		}
		if held.slots != (locality.Slots{}) {
			h.slots = append(h.slots, held)
		}
	}
	h.exempt = r.writersFor(func(kind int) bool { return need[kind] > 0 && (!count || found[kind] < need[kind]) })
	h.apply(r)
	r.reservations = append(r.reservations, h)
}

// reserveOn keeps what is free of slots that are needed on these very machines.
func (r *Round) reserveOn(needs []machineSlots) {
	h := new(reservation)
	var lacks [2]bool
	for _, need := range needs {
		held := machineSlots{need.machine, r.freeOn(r.view.Machine(need.machine))}
		for kind, n := range need.slots {
			held.slots[kind] = min(held.slots[kind], n)
			lacks[kind] = lacks[kind] || held.slots[kind] < n
		}
		if held.slots != (locality.Slots{}) {
			h.slots = append(h.slots, held)
		}
	}
	h.exempt = r.writersFor(func(kind int) bool { return lacks[kind] })
	h.apply(r)
	r.reservations = append(r.reservations, h)
}

// spareSlots is how many of the free slots of a machine are left over when it runs
// as many tasks of the bundles as it can.
func (r *Round) spareSlots(c *claim, m *cluster.Machine, kind, free int) int {
	unit := locality.Slots(c.class.Stages[0].Slots)
	for _, s := range c.class.Stages {
		if locality.Slots(s.Slots) != unit {
			return 0
		}
	}
	others := m.Slots[kind] - free - r.tasksOn(c, m)*unit[kind]
	return min(free, max(m.Slots[kind]-unit.Times(m.Slots)*unit[kind]-others, 0))
}

// tasksOn is how many tasks of the class a machine runs, or is to run.
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

// writersFor are the stages with tasks to be finished that running tasks read,
// which hold slots of a scarce kind; those that such writers read themselves;
// and those in bundles with them.
func (r *Round) writersFor(scarce func(kind int) bool) map[*cluster.Stage]bool {
	writers := make(map[*cluster.Stage]bool)
	for j := range r.view.Jobs() {
		for _, s := range j.Stages {
			for kind, n := range s.Slots {
				if s.Running > 0 && n > 0 && scarce(kind) {
					addWriters(writers, s)
				}
			}
		}
	}
	return writers
}

func addWriters(writers map[*cluster.Stage]bool, reader *cluster.Stage) {
	for up := range reader.Upstream() {
		if up.Complete() {
			continue
		}
		for _, s := range up.Bundle.Stages {
			if !writers[s] {
				writers[s] = true
				addWriters(writers, s)
			}
		}
	}
}

// release gives the slots back that the stages may take though they are held.
func (r *Round) release(stages ...*cluster.Stage) (lifted []*reservation) {
	for _, h := range r.reservations {
		if slices.ContainsFunc(stages, func(s *cluster.Stage) bool { return h.exempt[s] }) {
			lifted = append(lifted, h)
		}
	}
	if len(lifted) > 0 {
		r.flush()
	}
	for _, h := range lifted {
		for _, held := range h.slots {
			r.takeSlots(held.machine, locality.Slots{-held.slots[0], -held.slots[1]})
		}
	}
	return lifted
}

// reapply holds what is left of slots that were lifted.
func (r *Round) reapply(lifted []*reservation) {
	for _, h := range lifted {
		for i := range h.slots {
			held := &h.slots[i]
			free := r.freeOn(r.view.Machine(held.machine))
			for kind := range free {
				held.slots[kind] = min(held.slots[kind], free[kind])
			}
		}
		h.apply(r)
	}
}

// apply takes the slots that are held.
func (h *reservation) apply(r *Round) {
	for _, held := range h.slots {
		r.takeSlots(held.machine, held.slots)
	}
}
