package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// gang is a bundle of several groups that is to start.
type gang struct {
	job    *cluster.Job
	class  *cluster.Bundle
	number int
	tasks  []*cluster.Task
	groups []locality.Group // beside tasks
	avoid  []string         // machines where none of the tasks starts
	picky  bool             // some tasks avoid further machines
}

// gang looks at a bundle. Machines are avoided only when it could start on the
// others.
func (r *Round) gang(j *cluster.Job, b *cluster.Bundle, number int) *gang {
	g := &gang{job: j, class: b, number: number, tasks: b.TasksOf(number), avoid: r.view.Avoided(j, r.now)}
	for _, s := range b.Stages {
		for range tasksIn(b, s) {
			g.groups = append(g.groups, locality.Group{Slots: s.Slots})
		}
	}
	for i, t := range g.tasks {
		g.groups[i].Task = taskOf(j, t)
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
	return r.placer.topology.Fits(r.all(), r.rooms(g, capacityOf), g.groups)
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
	return r.placer.topology.Bundle(r.all(), r.rooms(g, r.free), g.groups)
}

// startGang takes the slots of machines and plans the start.
func (r *Round) startGang(g *gang, at []int) {
	start := BundleStart{Job: g.job.ID, Class: g.class.Index, Number: g.number}
	for i, t := range g.tasks {
		m := r.machines[at[i]]
		level := r.placer.topology.LevelOf(g.groups[i].Task, m)
		start.Starts = append(start.Starts, Start{
			Task: t.ID, Machine: m.Name, Local: level == locality.Node, RackLocal: level == locality.Rack,
		})
		r.remove(m.Name, g.groups[i].Slots)
	}
	r.bundles = append(r.bundles, start)
}

// all are the machines, as locality knows them.
func (r *Round) all() []locality.Machine {
	if r.machines == nil {
		for m := range r.view.Machines() {
			r.machines = append(r.machines, describe(m))
		}
	}
	return r.machines
}

// rooms are what machines have for a gang, beside all.
func (r *Round) rooms(g *gang, free func(*cluster.Machine) locality.Slots) []locality.Room {
	rooms := make([]locality.Room, 0, len(r.all()))
	for m := range r.view.Machines() {
		var room locality.Room
		if !slices.Contains(g.avoid, m.Name) {
			room.Free = free(m)
		}
		for kind, n := range room.Free {
			room.Used[kind] = max(m.Slots[kind]-n, 0)
		}
		rooms = append(rooms, room)
	}
	return rooms
}
