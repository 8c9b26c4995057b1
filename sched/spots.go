package sched

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Spot is a machine with room for a task.
type Spot struct {
	Machine string
	Travel  locality.Travel
	Level   locality.Level
	Home    bool // it has what the task goes on from
	Avoided bool // the task is not to start there
}

// Spots are the machines that have room for a task: first the one that has what it goes
// on from, then those to which its input travels least; avoided ones come last. It is for people who ask why a
// task is not running: a round looks at many tasks together. Racks is the
// operator's table, as in Placement.
func Spots(now int64, view cluster.View, racks map[string]string, id cluster.TaskID) (spots []Spot) {
	j, stage, t, ok := view.Task(id)
	if !ok {
		return nil
	}
	topology := locality.NewTopology(racks)
	for m := range view.Machines() {
		topology.Join(describe(m))
	}
	task := taskOf(j, t)
	avoided := append(slices.Clone(view.Avoided(j, now)), view.FailedOn(t)...)
	for m := range view.Machines() {
		if locality.Slots(stage.Slots).Times(freeOf(m)) > 0 {
			here := describe(m)
			spots = append(spots, Spot{
				m.Name, topology.Travel(task, here), topology.LevelOf(task, here), m.Name == task.Home, slices.Contains(avoided, m.Name),
			})
		}
	}
	slices.SortStableFunc(spots, func(a, b Spot) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Travel.Cost(), b.Travel.Cost()))
	})
	return spots
}

// rank is lower for better spots, whatever travels.
func rank(s Spot) int {
	switch {
	case s.Avoided:
		return 2
	case s.Home:
		return 0
	}
	return 1
}
