package mr

import (
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
)

// Stage is a stage of a Graph: a number of Nodes that run the same functions on
// different data, and emit records of K and V. What it emits goes to each of the
// channels by which other stages read it, and to its output if it has one.
type Stage[K, V any] struct {
	*stage
	targets []target[K, V]
}

// Read makes a stage that reads an input of the job: a map, one Node for each
// split. Inputs on the command line go to the Read stages in turn, the last of
// which takes what is left.
func Read[KI, VI, K, V any](g *Graph, name string, in Input[KI, VI], m Mapper[KI, VI, K, V]) *Stage[K, V] {
	s := &Stage[K, V]{stage: g.addStage(name)}
	if in == nil {
		s.errorf("an input that is nil")
	}
	if m == nil {
		s.errorf("a mapper that is nil")
	}
	s.source, s.input, s.disallowed = true, in, disallowedModes[K, V](m)
	s.run = func(t *Task, n *task.Node) error { return runSource(t, n, in, instance(m), s) }
	return s
}

// Group makes a stage that gets the records of other stages sorted by key, each
// key once with all its values: a reduce. The values of a key come in the order
// of the stages in the graph, those of one stage by where in its input they come
// from, or by the number of the Node that emitted them, and those of one Node in
// the order of Emit.
//
// It reads files, or one stream or pipe, which it sorts itself. It has as many
// Nodes as what it is piped from; one after Gather; otherwise
// mapreduce.job.reduces, unless Nodes says so.
func Group[K, V, KO, VO any](g *Graph, name string, r Reducer[K, V, KO, VO], in ...Channel[K, V]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if r == nil {
		s.errorf("a reducer that is nil")
	}
	connect(s.stage, true, in...)
	s.disallowed = disallowedModes[KO, VO](r)
	s.run = func(t *Task, n *task.Node) error {
		reducer := instance(r)
		return runGroup(t, n, in, reducer, reducer, s)
	}
	return s
}

// Each makes a stage that gets the records of another one at a time. From a file
// they come in order of key; from a stream or pipe as they are emitted, those of
// several Nodes in any order. It has as many Nodes as Group has.
func Each[K, V, KO, VO any](g *Graph, name string, m Mapper[K, V, KO, VO], in Channel[K, V]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if m == nil {
		s.errorf("a mapper that is nil")
	}
	connect(s.stage, false, in)
	s.disallowed = disallowedModes[KO, VO](m)
	s.run = func(t *Task, n *task.Node) error { return runEach(t, n, in, instance(m), s) }
	return s
}

// With lets the functions of a stage read sides.
func With[K, V any](s *Stage[K, V], sides ...anySide) *Stage[K, V] {
	for _, side := range sides {
		side.giveTo(s.stage)
	}
	return s
}

// Write makes what a stage emits the job's main output: files called part-m-…
// for a stage made by Read, part-r-… for others, one for each Node.
func Write[K, V any](s *Stage[K, V], out Output[K, V]) *Stage[K, V] {
	return WriteAs(s, task.MainOutput, out)
}

// WriteAs makes what a stage emits a further output of the job, in files that
// begin with name, which is made of letters and digits.
func WriteAs[K, V any](s *Stage[K, V], name string, out Output[K, V]) *Stage[K, V] {
	s.claimOutput(name)
	if out == nil {
		s.errorfAt(callerPosition(), "no output: use NullOutput to drop what it emits")
	}
	s.targets = append(s.targets, outputTarget[K, V]{name: name, format: out})
	return s
}

func (s *stage) claimOutput(name string) {
	g := s.graph
	s.writes = true
	if name != task.MainOutput {
		if err := g.named.add(name, nil); err != nil {
			s.errorfAt(callerPosition(), "%w", err)
		}
		return
	}
	if g.main != nil {
		s.errorfAt(callerPosition(), "the job's output is written already, by stage %q; use WriteAs to give this one a name", g.main.name)
		return
	}
	g.main = s
}

// Nodes sets how many Nodes the stage has.
func (s *Stage[K, V]) Nodes(n int) *Stage[K, V] {
	switch {
	case s.source:
		s.errorfAt(callerPosition(), "Nodes of a stage that reads the job's input: it has one for each split")
	case n < 1:
		s.errorfAt(callerPosition(), "%d nodes; at least 1", n)
	default:
		s.nodes = n
	}
	return s
}

// Slots sets what slots its Nodes take: by default a map slot where they read
// the job's input, a reduce slot elsewhere.
func (s *Stage[K, V]) Slots(kind dag.SlotKind) *Stage[K, V] {
	s.slots = kind
	return s
}
