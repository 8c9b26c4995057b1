package sched

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Candidate is a machine with room for a task.
type Candidate struct {
	Machine       string
	Transfer      locality.Transfer
	Level         locality.Level
	HasCheckpoint bool // it has what the task goes on from
	Avoided       bool // the task is not to start there
}

// Candidates are the machines that have room for a task: first the one that has what it goes
// on from, then those to which its input travels least; avoided ones come last. It is for people who ask why a
// task is not running: a round looks at many tasks together. Racks is the
// operator's table, as in Placement.
func Candidates(now int64, view cluster.View, racks map[string]string, id cluster.TaskID) (spots []Candidate) {
	j, stage, t, ok := view.Task(id)
	if !ok {
		return nil
	}
	topology := locality.NewTopology(racks)
	for m := range view.Machines() {
		topology.Add(describe(m))
	}
	task := taskOf(j, t)
	avoided := append(slices.Clone(view.Avoided(j, now)), view.FailedOn(t)...)
	for m := range view.Machines() {
		if locality.Slots(stage.Slots).Times(freeSlotsOf(m)) > 0 {
			here := describe(m)
			spots = append(spots, Candidate{
				m.Name, topology.Transfer(task, here), topology.LevelOf(task, here), m.Name == task.CheckpointOn, slices.Contains(avoided, m.Name),
			})
		}
	}
	slices.SortStableFunc(spots, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(candidateRank(a), candidateRank(b)), cmp.Compare(a.Transfer.Cost(), b.Transfer.Cost()))
	})
	return spots
}

// candidateRank is lower for better spots, whatever travels.
func candidateRank(s Candidate) int {
	switch {
	case s.Avoided:
		return 2
	case s.HasCheckpoint:
		return 0
	}
	return 1
}
