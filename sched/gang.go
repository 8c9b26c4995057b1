package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// gang is a bundle of several groups that is to start, or to go on from checkpoints.
type gang struct {
	job    *cluster.Job
	class  *cluster.Bundle
	number int
	tasks  []*cluster.Task  // that wait
	groups []locality.Group // beside tasks
	avoid  []string         // machines where none of the tasks starts
	picky  bool             // some tasks avoid further machines
}

// gang looks at a bundle. Machines are avoided only when it could start on the
// others.
func (r *Round) gang(j *cluster.Job, b *cluster.Bundle, number int) *gang {
	g := &gang{job: j, class: b, number: number, tasks: b.WaitingIn(number), avoid: r.view.Avoided(j, r.now)}
	for i, t := range g.tasks {
		g.groups = append(g.groups, locality.Group{Slots: stageOf(b, t.ID).Slots, Task: taskOf(j, t)})
		g.groups[i].Avoid = r.view.FailedOn(t)
		g.picky = g.picky || len(g.groups[i].Avoid) > 0
	}
	if (g.picky || g.avoid != nil) && !r.couldFit(g) {
		g.avoid, g.picky = nil, false
		for i := range g.groups {
			g.groups[i].Avoid = nil
		}
	}
	return g
}

// couldFit reports whether a gang would start if nothing else ran.
func (r *Round) couldFit(g *gang) bool {
	return r.machines().Fits(r.without(g.avoid, r.rooms(capacityOf)), g.groups)
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
	for kind, l := range r.lanes {
		if need[kind] > l.left {
			return nil, false
		}
	}
	if r.free == nil {
		r.free = r.rooms(r.freeOn)
	}
	return r.machines().Place(r.without(g.avoid, r.free), g.groups)
}

// startGang takes the slots of machines and plans the start.
func (r *Round) startGang(g *gang, at []int) {
	start := BundleStart{Job: g.job.ID, Class: g.class.Index, Number: g.number}
	free := r.free
	for i, t := range g.tasks {
		m, group := at[i], g.groups[i]
		start.Starts = append(start.Starts, newStart(t, r.all[m].Name, r.machines().Level(group.Task, m)))
		r.remove(r.all[m].Name, group.Slots)
		for kind, n := range group.Slots {
			free[m].Free[kind] -= n
			free[m].Used[kind] += n
		}
	}
	r.free = free
	r.bundles = append(r.bundles, start)
}

// machines are all of them, for gangs to be placed on.
func (r *Round) machines() *locality.Bundles {
	if r.places == nil {
		for m := range r.view.Machines() {
			r.all = append(r.all, describe(m))
		}
		r.places = r.placer.topology.Bundles(r.all)
	}
	return r.places
}

// rooms are what machines have, beside all.
func (r *Round) rooms(free func(*cluster.Machine) locality.Slots) (rooms []locality.Room) {
	for m := range r.view.Machines() {
		room := locality.Room{Free: free(m)}
		for kind, n := range room.Free {
			room.Used[kind] = max(m.Slots[kind]-n, 0)
		}
		rooms = append(rooms, room)
	}
	return rooms
}

// without is rooms without those of machines that are avoided.
func (r *Round) without(avoid []string, rooms []locality.Room) []locality.Room {
	if len(avoid) == 0 {
		return rooms
	}
	rooms = slices.Clone(rooms)
	for i, m := range r.all {
		if slices.Contains(avoid, m.Name) {
			rooms[i].Free = locality.Slots{}
		}
	}
	return rooms
}
