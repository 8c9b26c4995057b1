package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// gang is a bundle of several groups that is to start, or to go on from checkpoints.
type gang struct {
	job        *cluster.Job
	class      *cluster.Bundle
	number     int
	tasks      []*cluster.Task  // that wait
	groups     []locality.Group // beside tasks
	avoid      []string         // machines where none of the tasks starts
	tasksAvoid bool             // some tasks avoid further machines
}

// newGang looks at a bundle. Machines are avoided only when it could start on the
// others.
func (r *Round) newGang(j *cluster.Job, b *cluster.Bundle, number int) *gang {
	g := &gang{job: j, class: b, number: number, tasks: b.WaitingIn(number), avoid: r.view.Avoided(j, r.now)}
	for i, t := range g.tasks {
		g.groups = append(g.groups, locality.Group{Slots: stageOf(b, t.ID).Slots, Task: taskOf(j, t)})
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

// fitsIdle reports whether a gang would start if nothing else ran.
func (r *Round) fitsIdle(g *gang) bool {
	return r.gangPlacer().Fits(r.without(g.avoid, r.slotsOf(capacityOf)), g.groups)
}

// capacityOf is the slots of a machine, free or not.
func capacityOf(m *cluster.Machine) locality.Slots { return m.Slots }

// placeGang finds a machine for each of the groups in the slots that are free.
func (r *Round) placeGang(g *gang) (at []int, ok bool) {
	var need locality.Slots
	for _, group := range g.groups {
		for kind, n := range group.Slots {
			need[kind] += n
		}
	}
	for kind, l := range r.assigners {
		if need[kind] > l.available {
			return nil, false
		}
	}
	if r.gangSlots == nil {
		r.gangSlots = r.slotsOf(r.freeOn)
	}
	return r.gangPlacer().Place(r.without(g.avoid, r.gangSlots), g.groups)
}

// startGang takes the slots of machines and plans the start.
func (r *Round) startGang(g *gang, at []int) {
	start := BundleStart{Job: g.job.ID, Class: g.class.Index, Number: g.number}
	free := r.gangSlots
	for i, t := range g.tasks {
		m, group := at[i], g.groups[i]
		start.Starts = append(start.Starts, newStart(t, r.gangMachines[m].Name, r.gangPlacer().Level(group.Task, m)))
		r.takeSlots(r.gangMachines[m].Name, group.Slots)
		for kind, n := range group.Slots {
			free[m].Free[kind] -= n
			free[m].Used[kind] += n
		}
	}
	r.gangSlots = free
	r.bundles = append(r.bundles, start)
}

// gangPlacer are all of them, for gangs to be placed on.
func (r *Round) gangPlacer() *locality.GangPlacer {
	if r.gangs == nil {
		for m := range r.view.Machines() {
			r.gangMachines = append(r.gangMachines, describe(m))
		}
		r.gangs = r.placer.topology.GangPlacer(r.gangMachines)
	}
	return r.gangs
}

// slotsOf are what machines have, beside all.
func (r *Round) slotsOf(free func(*cluster.Machine) locality.Slots) (rooms []locality.MachineSlots) {
	for m := range r.view.Machines() {
		room := locality.MachineSlots{Free: free(m)}
		for kind, n := range room.Free {
			room.Used[kind] = max(m.Slots[kind]-n, 0)
		}
		rooms = append(rooms, room)
	}
	return rooms
}

// without is rooms without those of machines that are avoided.
func (r *Round) without(avoid []string, rooms []locality.MachineSlots) []locality.MachineSlots {
	if len(avoid) == 0 {
		return rooms
	}
	rooms = slices.Clone(rooms)
	for i, m := range r.gangMachines {
		if slices.Contains(avoid, m.Name) {
			rooms[i].Free = locality.Slots{}
		}
	}
	return rooms
}
