package mr

import (
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Stage is a stage of a Graph: a number of Nodes that run the same functions on different
// data and emit records of K and V. The records go to each channel by which another stage
// reads them, and to the stage's outputs.
type Stage[K, V any] struct {
	*stage
	targets []target[K, V]
}

// Read makes a stage that reads an input of the job: a map, with one Node per split. Inputs
// on the command line are assigned to the Read stages in order; the last takes the rest.
func Read[KI, VI, K, V any](g *Graph, name string, in Input[KI, VI], m Mapper[KI, VI, K, V]) *Stage[K, V] {
	s := &Stage[K, V]{stage: g.addStage(name)}
	if in == nil {
		s.errorf("an input that is nil")
	}
	if m == nil {
		s.errorf("a mapper that is nil")
	}
	if err := declarationErrorOf(in); err != nil {
		s.errorf("input: %w", err)
	}
	s.source, s.input, s.disallowed = true, in, disallowedModes[K, V](m)
	s.run = func(t *Task, n *task.NodeRun) error { return runSource(t, n, in, instance(m), s) }
	return s
}

// Group makes a stage that gets the records of other stages sorted by key, each key once
// with all its values: a reduce. The values of a key are ordered by the position of their
// stage in the graph. Values of one stage are ordered by their position in its input, or by
// the number of the Node that emitted them. Values of one Node are in the order of Emit.
//
// A Group reads files, or one stream or pipe, which it sorts itself. By default it has as
// many Nodes as the stage that is piped into it, one Node after Gather, and
// mapreduce.job.reduces Nodes otherwise. The method Nodes sets another number.
func Group[K, V, KO, VO any](g *Graph, name string, r Reducer[K, V, KO, VO], in ...Channel[K, V]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if r == nil {
		s.errorf("a reducer that is nil")
	}
	connect(s.stage, true, in...)
	s.disallowed = disallowedModes[KO, VO](r)
	s.run = func(t *Task, n *task.NodeRun) error {
		reducer := reducerInstance(r, in[0].route.values)
		return runGroup(t, n, in, reducer, reducer, s)
	}
	return s
}

// Each makes a stage that gets the records of another stage one at a time. Records of a file
// arrive in order of key. Records of a stream or pipe arrive as they are emitted, and
// records of several Nodes interleave. The stage has as many Nodes as a Group would have.
func Each[K, V, KO, VO any](g *Graph, name string, m Mapper[K, V, KO, VO], in Channel[K, V]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if m == nil {
		s.errorf("a mapper that is nil")
	}
	connect(s.stage, false, in)
	s.disallowed = disallowedModes[KO, VO](m)
	s.run = func(t *Task, n *task.NodeRun) error { return runEach(t, n, in, instance(m), s) }
	return s
}

// With gives sides and named outputs to the functions of a stage.
func With[K, V any](s *Stage[K, V], given ...sideOrOutput) *Stage[K, V] {
	for _, g := range given {
		g.giveTo(s.stage)
	}
	return s
}

// sideOrOutput is a Side or a NamedOutput of any types.
type sideOrOutput interface{ giveTo(to *stage) }

// Write makes the records of a stage the job's main output: one file per Node, called
// part-m-… for a stage made by Read and part-r-… for others.
func Write[K, V any](s *Stage[K, V], out Output[K, V]) *Stage[K, V] {
	return WriteAs(s, task.MainOutput, out)
}

// WriteAs makes the records of a stage a further output of the job, in files whose names
// begin with name. A name has letters and digits only.
func WriteAs[K, V any](s *Stage[K, V], name string, out Output[K, V]) *Stage[K, V] {
	s.claimOutput(name, out)
	if out == nil {
		s.errorfAt(callerPosition(), "no output: use NullOutput to drop what it emits")
	}
	if err := declarationErrorOf(out); err != nil {
		s.errorfAt(callerPosition(), "output: %w", err)
	}
	s.targets = append(s.targets, outputTarget[K, V]{name: name, format: out})
	return s
}

// claimOutput makes the stage the writer of an output. A job has one main output, and any
// number of named ones.
func (s *stage) claimOutput(name string, format any) {
	s.writes = true
	o, add := &ownedOutput{untyped: format, graph: s.graph, writers: []*stage{s}}, s.graph.named.add
	if name == task.MainOutput {
		add = s.graph.named.claim
	}
	if err := add(name, o); err != nil {
		s.errorfAt(callerPosition(), "%w", err)
	}
}

// Nodes sets the number of Nodes of the stage.
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

// Slots sets the kind of slots that the Nodes of the stage take. By default a Read takes map
// slots, and other stages take reduce slots.
func (s *Stage[K, V]) Slots(kind dag.SlotKind) *Stage[K, V] {
	s.slots = kind
	return s
}

// stage is the part of a Stage that does not depend on its types.
// The typed Stage sets run, which has the types in its closure.
type stage struct {
	graph      *Graph
	name       string
	declaredAt position     // file:line
	source     bool         // Read made the stage
	input      splitter     // the input of a source
	nodes      int          // number set by Nodes; 0 if the input decides
	slots      dag.SlotKind // kind set by Slots
	reads      []*link      // edges that it reads, without sides
	sides      []*link
	read       bool            // another stage reads it
	writes     bool            // the stage writes an output
	disallowed preempt.ModeSet // modes that the stage's functions do not support
	run        func(t *Task, n *task.NodeRun) error
}

// addStage adds a stage, at the position of the call in the user's code. Names must differ,
// since tasks find their stage by its name.
func (g *Graph) addStage(name string) *stage {
	s := &stage{graph: g, name: name, declaredAt: callerPosition()}
	if other := g.stageNamed(name); other != nil {
		g.errorf(s.declaredAt, "stage %q: name used twice, first at %s", name, other.declaredAt)
	}
	g.stages = append(g.stages, s)
	return s
}

// stageNamed returns the stage of that name; nil if there is none.
func (g *Graph) stageNamed(name string) *stage {
	for _, s := range g.stages {
		if s.name == name {
			return s
		}
	}
	return nil
}

// errorf adds an error at the position of the stage.
func (s *stage) errorf(format string, args ...any) { s.errorfAt(s.declaredAt, format, args...) }

// errorfAt adds an error of the stage at another position, such as the position of a
// channel.
func (s *stage) errorfAt(place position, format string, args ...any) {
	s.graph.errorf(place, "stage %q: %w", s.name, fmt.Errorf(format, args...))
}

// slotKind returns the kind of slots that the stage's Nodes take: the kind set by Slots,
// else a map slot if the stage reads the job's input and a reduce slot otherwise.
func (s *stage) slotKind() dag.SlotKind {
	switch {
	case s.slots != dag.SlotDefault:
		return s.slots
	case s.source:
		return dag.SlotMap
	}
	return dag.SlotReduce
}
