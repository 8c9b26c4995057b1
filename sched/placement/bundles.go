package placement

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// offerBundles gives slots to at most the given number of bundles of a want. The batches
// are placed first, so that the free slots are known, and slots reserved by earlier
// bundles are released for stages that may use them.
func (r *Round) offerBundles(w sched.Want, most int) {
	r.trace.add(w, most)
	r.flush()
	released := r.release(w.Bundle.Stages...)
	switch {
	case w.Suspended != nil:
		r.offerSuspended(w)
	case w.Bundle.Gang:
		r.offerGangs(w, most)
	default:
		r.offerGroups(w, most)
	}
	r.reapply(released)
}

// offerSuspended resumes a suspended bundle if all of its machines have the slots and the
// memory. Otherwise it reserves what is free, unless a machine has lost so many slots or so
// much memory that the bundle could not resume even if nothing else ran.
func (r *Round) offerSuspended(w sched.Want) {
	switch needs := r.needsByMachine(w); {
	case r.haveCapacity(needs, r.freeCapacity(w.Job, w.Bundle)):
		r.resumeBundle(w, needs)
	case r.haveCapacity(needs, totalCapacity):
		r.reserveOn(needs)
	}
}

// haveCapacity reports whether machines have all that is in needs.
func (r *Round) haveCapacity(needs []machineSlots, capacity func(*cluster.Machine) cluster.Capacity) bool {
	return !slices.ContainsFunc(needs, func(n machineSlots) bool {
		need := cluster.Capacity{Slots: n.slots, MemoryMB: n.memoryMB}
		return !need.FitsIn(capacity(r.view.Machine(n.machine)))
	})
}

// resumeBundle plans that suspended attempts resume together, and takes their slots and
// memory.
func (r *Round) resumeBundle(w sched.Want, needs []machineSlots) {
	resume := sched.BundleResume{}
	for _, a := range w.Suspended {
		resume.Attempts = append(resume.Attempts, a.ID)
		_, stage, _, _ := r.view.Task(a.ID.Task)
		r.takeMemory(a.Machine, w.Job, stage)
	}
	for _, n := range needs {
		r.takeSlots(n.machine, n.slots)
	}
	r.resumes = append(r.resumes, resume)
}

// needsByMachine returns the slots and the memory that suspended attempts need, in the order
// in which their machines come up first.
func (r *Round) needsByMachine(w sched.Want) (needs []machineSlots) {
	for _, a := range w.Suspended {
		i := slices.IndexFunc(needs, func(n machineSlots) bool { return n.machine == a.Machine })
		if i < 0 {
			i, needs = len(needs), append(needs, machineSlots{machine: a.Machine})
		}
		_, stage, _, _ := r.view.Task(a.ID.Task)
		needs[i].slots = needs[i].slots.Plus(stage.Slots)
		needs[i].memoryMB += stage.MemoryMB
	}
	return needs
}

// offerGroups starts bundles of one group with several slots. All groups of a class take
// the same slots, so an assigner of that unit places them like tasks of one slot.
func (r *Round) offerGroups(w sched.Want, most int) {
	a := r.newAssigner(w.Stage.Slots, r.view.MachinesWithFree(w.Stage.Slot), r.freeOn)
	a.noLocalityWait = r.assigners[w.Stage.Slot].noLocalityWait
	for m := range r.view.Machines() {
		a.total += a.capacity(m)
	}
	if a.total == 0 {
		return
	}
	tight := w.Stage.MemoryMB > 0 && slices.ContainsFunc(a.machines, func(m *cluster.Machine) bool {
		return r.freeFor(w.Job, w.Stage, m) < int64(w.Stage.Slots.CountIn(r.freeOn(m)))*w.Stage.MemoryMB
	})
	var hidden []int
	if tight {
		hidden = a.hide(w.Job, w.Stage)
	}
	a.offer(w.Job, w.Stage, most, false)
	a.flush()
	a.unhide(hidden)
	r.memory.ample = nil
	for _, s := range a.starts {
		r.takeSlots(s.Machine, w.Stage.Slots)
		r.bundles = append(r.bundles, sched.BundleStart{Job: w.Job.ID, Class: w.Bundle.Index, Number: s.Task.Number, Starts: []sched.Start{s}})
	}
	r.wakeAt(a.wake)
	if left := min(most, w.Count) - len(a.starts); left > 0 {
		r.reserve(&claim{job: w.Job, class: w.Bundle, need: w.Need, bundles: left, needMemory: tight && a.available > 0})
	}
}

// maxMisses bounds the number of gangs of a class that are tried and do not fit. Gangs of a
// class differ only in the location of their input and in the machines that they avoid.
const maxMisses = 8

// offerGangs starts as many gangs of a want as there are slots for, and reserves slots
// for the others. A gang that resumes from checkpoints needs slots for its unfinished
// tasks only.
func (r *Round) offerGangs(w sched.Want, most int) {
	var waiting *gang // first gang that could start on an idle cluster
	started, misses := 0, 0
	for _, number := range w.Gangs {
		if started == most || misses == maxMisses {
			break
		}
		g := r.newGang(w.Job, w.Bundle, number)
		if at, ok := r.placeGang(g); ok {
			r.startGang(g, at)
			started++
			continue
		}
		misses++
		if waiting == nil && r.fitsIdle(g) {
			waiting = g
		}
	}
	if left := min(most, w.Count) - started; waiting != nil && left > 0 {
		r.reserve(&claim{job: w.Job, class: w.Bundle, need: w.Need, bundles: left, avoid: waiting.avoid, tasksAvoid: waiting.tasksAvoid, needMemory: r.lacksMemory(waiting)})
	}
}

// gang is a bundle of several groups that is to start, or to resume from checkpoints.
type gang struct {
	job        *cluster.Job
	class      *cluster.Bundle
	number     int              // number in its class
	tasks      []*cluster.Task  // tasks that wait
	groups     []locality.Group // parallel to tasks
	avoid      []string         // machines that all of its tasks avoid
	tasksAvoid bool             // some tasks avoid further machines
}

// newGang describes a gang. It avoids machines only if it could start on the others:
// otherwise it would wait for ever because of failures that it may have caused itself.
func (r *Round) newGang(j *cluster.Job, b *cluster.Bundle, number int) *gang {
	g := &gang{job: j, class: b, number: number, tasks: b.WaitingIn(number), avoid: r.view.Avoided(j, r.now)}
	for i, t := range g.tasks {
		_, stage, _, _ := r.view.Task(t.ID)
		g.groups = append(g.groups, locality.Group{Slots: stage.Slots, MemoryMB: stage.MemoryMB, Task: taskOf(j, t)})
		g.groups[i].Avoid = r.view.FailedOn(t)
		g.tasksAvoid = g.tasksAvoid || len(g.groups[i].Avoid) > 0
	}
	if (g.tasksAvoid || g.avoid != nil) && !r.fitsIdle(g) {
		g.avoid, g.tasksAvoid = nil, false
		for i := range g.groups {
			g.groups[i].Avoid = nil
		}
	}
	return g
}

// gangMachines caches the machines that gangs are placed on.
type gangMachines struct {
	all    []locality.Machine      // all machines, in the order of the view
	placer *locality.GangPlacer    // placer for all machines; nil before the first gang
	free   []locality.MachineSlots // parallel to all; nil if slots have been taken since
	of     *cluster.Bundle         // class of gangs that free is for
}

// fitsIdle reports whether a gang would start if nothing else ran. Slots are reserved only
// for such gangs: slots reserved for other gangs would stay free for ever.
func (r *Round) fitsIdle(g *gang) bool {
	return r.gangPlacer().Fits(r.without(g.avoid, r.slotsOf(totalCapacity)), g.groups)
}

// lacksMemory reports whether a gang that finds no machines would find them if it needed no
// memory.
func (r *Round) lacksMemory(g *gang) bool {
	groups := slices.Clone(g.groups)
	need := false
	for i := range groups {
		need = need || groups[i].MemoryMB > 0
		groups[i].MemoryMB = 0
	}
	return need && r.gangPlacer().Fits(r.without(g.avoid, r.slotsOf(r.freeCapacity(g.job, g.class))), groups)
}

// placeGang finds a machine with free slots for each of the groups. The sums of free slots
// are compared first, since this check is cheap and most large gangs fail it.
func (r *Round) placeGang(g *gang) (at []int, ok bool) {
	var need cluster.Slots
	for _, group := range g.groups {
		need = need.Plus(group.Slots)
	}
	for kind, a := range r.assigners {
		if need[kind] > a.available {
			return nil, false
		}
	}
	if r.gangs.free == nil || r.gangs.of != g.class {
		r.gangs.free, r.gangs.of = r.slotsOf(r.freeCapacity(g.job, g.class)), g.class
	}
	return r.gangPlacer().Place(r.without(g.avoid, r.gangs.free), g.groups)
}

// startGang takes the slots and plans the start. Later gangs of the same want are placed on
// the remaining slots.
func (r *Round) startGang(g *gang, at []int) {
	start := sched.BundleStart{Job: g.job.ID, Class: g.class.Index, Number: g.number}
	free := r.gangs.free // takeSlots sets it to nil; here it is updated instead
	for i, t := range g.tasks {
		m, group := at[i], g.groups[i]
		machine := r.gangs.all[m].Name
		start.Starts = append(start.Starts, newStart(t, machine, r.gangPlacer().Level(group.Task, m)))
		_, stage, _, _ := r.view.Task(t.ID)
		r.takeSlots(machine, group.Slots)
		r.takeMemory(machine, g.job, stage)
		free[m].Free, free[m].Used = free[m].Free.Minus(group.Slots), free[m].Used.Plus(group.Slots)
		free[m].FreeMB -= group.MemoryMB
	}
	r.gangs.free = free
	r.bundles = append(r.bundles, start)
}

// gangPlacer returns the placer of this round. It is made for the first gang, since most
// rounds have none.
func (r *Round) gangPlacer() *locality.GangPlacer {
	if r.gangs.placer == nil {
		for m := range r.view.Machines() {
			r.gangs.all = append(r.gangs.all, Describe(m))
		}
		r.gangs.placer = r.placer.topology.GangPlacer(r.gangs.all)
	}
	return r.gangs.placer
}

// slotsOf returns the slots and the memory of all machines. The function free returns what
// counts as free; the other slots count as used.
func (r *Round) slotsOf(free func(*cluster.Machine) cluster.Capacity) (all []locality.MachineSlots) {
	for m := range r.view.Machines() {
		n := free(m)
		all = append(all, locality.MachineSlots{Free: n.Slots, FreeMB: n.MemoryMB, Used: m.Slots.Minus(n.Slots).AtLeast(cluster.Slots{})})
	}
	return all
}

// without returns all slots, with no free slots on the machines in avoid. These machines
// stay in the list, since placements are indexes into it.
func (r *Round) without(avoid []string, all []locality.MachineSlots) []locality.MachineSlots {
	if len(avoid) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i, m := range r.gangs.all {
		if slices.Contains(avoid, m.Name) {
			all[i].Free = cluster.Slots{}
		}
	}
	return all
}
