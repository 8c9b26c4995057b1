package cluster

import (
	"cmp"
	"slices"
)

// combineSet says which writers' records each Node of a stage combines along a
// per-machine edge: those that were written on one machine. It is settled when
// the writers have all finished for the first time; a writer that runs again,
// wherever, stays in the share that it is in. So what a Node combines does not
// depend on what fails later.
type combineSet struct {
	Edge     int      `cbor:"1,keyasint"`           // place in the graph's edges
	Readers  []int    `cbor:"2,keyasint,omitempty"` // by number of the writing task: which task of the stage reads it; nil before it is settled
	Machines []string `cbor:"3,keyasint,omitempty"` // by number of the reading task: machine that wrote its share, "" for nothing to read
}

// settleCombineSets settles what the readers of a stage that has finished combine.
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

// newCombineSet deals the machines that wrote something to the readers, in the order
// in which the machines joined first.
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

// CombineSetsOf are the numbers of the writing tasks whose records a task combines,
// ascending, by place in the graph's edges of the per-machine edge.
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

// combineMachine is the machine that wrote most edges' shares of a task; "" for none.
func (s *Stage) combineMachine(t *Task) string {
	for _, sh := range s.combineSets {
		if t.ID.Number < len(sh.Machines) && sh.Machines[t.ID.Number] != "" {
			return sh.Machines[t.ID.Number]
		}
	}
	return ""
}
