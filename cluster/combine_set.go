package cluster

import (
	"cmp"
	"slices"
)

// combineSet assigns writers to the Nodes of a stage that combine the writers' records along
// a per-machine edge. A Node combines the records written on one machine. The assignment is
// fixed when all writers have finished for the first time. A writer that runs again on
// another machine stays in its set, so what a Node combines does not depend on later
// failures.
type combineSet struct {
	Edge     int      `cbor:"1,keyasint"`           // place in the graph's edges
	Readers  []int    `cbor:"2,keyasint,omitempty"` // by number of the writing task: the task of the stage that reads its output; nil before the set is fixed
	Machines []string `cbor:"3,keyasint,omitempty"` // by number of the reading task: the machine that wrote its set, "" for an empty one
}

// settleCombineSets fixes what the readers of a finished stage combine.
func (tx *transition) settleCombineSets(j *Job, writers *Stage) {
	for _, s := range j.Stages {
		for i := range s.combineSets {
			if sh := &s.combineSets[i]; sh.Readers == nil && j.StageOf(j.Spec.Graph.Edges[sh.Edge].From) == writers {
				*sh = tx.newCombineSet(sh.Edge, writers, len(s.Tasks))
				for t := range s.Pending() {
					j.indexHosts(s, t)
				}
			}
		}
	}
}

// newCombineSet assigns the machines that wrote something to the readers, in the order in
// which the machines first joined.
func (tx *transition) newCombineSet(edge int, writers *Stage, readers int) combineSet {
	var machines []*Machine
	for _, t := range writers.Tasks {
		if m := tx.byName[t.Winner.DataMachine()]; !slices.Contains(machines, m) {
			machines = append(machines, m)
		}
	}
	slices.SortFunc(machines, func(a, b *Machine) int { return cmp.Compare(a.index, b.index) })
	out := combineSet{Edge: edge, Readers: make([]int, len(writers.Tasks)), Machines: make([]string, readers)}
	for i, m := range machines {
		if out.Machines[i%readers] == "" {
			out.Machines[i%readers] = m.Name
		}
	}
	for n, t := range writers.Tasks {
		out.Readers[n] = slices.Index(machines, tx.byName[t.Winner.DataMachine()]) % readers
	}
	return out
}

// CombineSetsOf returns the numbers of the writing tasks whose records a task combines,
// ascending, by index of the per-machine edge in the graph.
func (j *Job) CombineSetsOf(t *Task) map[int][]int {
	s := j.stage(t.ID.Stage)
	shares := make(map[int][]int, len(s.combineSets))
	for _, sh := range s.combineSets {
		shares[sh.Edge] = []int{}
		for writer, reader := range sh.Readers {
			if reader == t.ID.Number {
				shares[sh.Edge] = append(shares[sh.Edge], writer)
			}
		}
	}
	return shares
}

// combineMachine returns the machine that wrote a task's first non-empty set; "" for none.
func (s *Stage) combineMachine(t *Task) string {
	for _, sh := range s.combineSets {
		if t.ID.Number < len(sh.Machines) && sh.Machines[t.ID.Number] != "" {
			return sh.Machines[t.ID.Number]
		}
	}
	return ""
}
