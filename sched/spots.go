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
	Avoided bool // the task is not to start there
}

// Spots are the machines that have room for a task, those to which its input
// travels least first; avoided ones come last. It is for people who ask why a
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
			spots = append(spots, Spot{m.Name, topology.Travel(task, here), topology.LevelOf(task, here), slices.Contains(avoided, m.Name)})
		}
	}
	slices.SortStableFunc(spots, func(a, b Spot) int {
		return cmp.Or(cmp.Compare(worse(a), worse(b)), cmp.Compare(a.Travel.Cost(), b.Travel.Cost()))
	})
	return spots
}

// worse is 1 for a spot that is avoided.
func worse(s Spot) int {
	if s.Avoided {
		return 1
	}
	return 0
}
