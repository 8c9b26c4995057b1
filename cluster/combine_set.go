package cluster

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/dag"
)

// combineSet assigns writers to the Nodes of a stage that combine the writers' records along
// a per-machine edge. A Node combines the records written on one machine. The assignment is
// fixed when all writers have finished for the first time. A writer that runs again on
// another machine stays in its set, so what a Node combines does not depend on later
// failures.
//
// A one-to-one edge that is a file has a set too, with the machines alone: its readers run near
// the files that are kept for them.
type combineSet struct {
	Edge     int      `cbor:"1,keyasint"`           // place in the graph's edges
	Readers  []int    `cbor:"2,keyasint,omitempty"` // by number of the writing task: the task of the stage that reads its output; nil for a one-to-one edge
	Machines []string `cbor:"3,keyasint,omitempty"` // by number of the reading task: the machine that wrote its set, "" for an empty one; nil before the set is fixed
}

// hasCombineSet reports whether the readers of a file edge have to know where its writers ran.
func hasCombineSet(e dag.Edge) bool {
	return e.Connection == dag.PerMachine || e.Connection == dag.OneToOne
}

// combinedEdges returns the edges of which the stage has a combine set, ascending.
func (s *Stage) combinedEdges(g dag.Graph) (edges []int) {
	for _, up := range s.upstream {
		if hasCombineSet(g.Edges[up.edge]) {
			edges = append(edges, up.edge)
		}
	}
	return edges
}

// settleCombineSets fixes what the readers of a finished stage combine.
func (tx *transition) settleCombineSets(j *Job, writers *Stage) {
	for _, s := range j.Stages {
		for i := range s.CombineSets {
			if sh := &s.CombineSets[i]; sh.Machines == nil && j.StageOf(j.Spec.Graph.Edges[sh.Edge].From) == writers {
				tx.settleCombineSet(j, s, sh, writers)
			}
		}
	}
}

// settleCombineSet fixes one set. The tasks that wait move in the index of hosts.
func (tx *transition) settleCombineSet(j *Job, s *Stage, sh *combineSet, writers *Stage) {
	for t := range s.Pending() {
		j.unindexHosts(s, t)
	}
	if j.Spec.Graph.Edges[sh.Edge].Connection == dag.OneToOne {
		sh.Machines = j.keptOn(sh.Edge, writers, s)
	} else {
		*sh = tx.newCombineSet(sh.Edge, writers, len(s.Tasks))
	}
	for t := range s.Pending() {
		j.indexHosts(s, t)
	}
}

// keptOn returns for each reader of a one-to-one edge the machine of its first writer.
func (j *Job) keptOn(edge int, writers, readers *Stage) []string {
	machines := make([]string, len(readers.Tasks))
	for _, t := range writers.Tasks {
		first, end := j.readersOf(t, edge, readers)
		for n := first; n < min(end, len(machines)); n++ {
			if machines[n] == "" {
				machines[n] = t.Winner.DataMachine()
			}
		}
	}
	return machines
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
	shares := make(map[int][]int, len(s.CombineSets))
	for _, sh := range s.CombineSets {
		if j.Spec.Graph.Edges[sh.Edge].Connection != dag.PerMachine {
			continue
		}
		shares[sh.Edge] = []int{}
		for writer, reader := range sh.Readers {
			if reader == t.ID.Number {
				shares[sh.Edge] = append(shares[sh.Edge], writer)
			}
		}
	}
	return shares
}

// combineMachine returns the machine that wrote a task's first non-empty set, or the file that
// is kept for it; "" for none.
func (s *Stage) combineMachine(t *Task) string {
	for _, sh := range s.CombineSets {
		if t.ID.Number < len(sh.Machines) && sh.Machines[t.ID.Number] != "" {
			return sh.Machines[t.ID.Number]
		}
	}
	return ""
}
