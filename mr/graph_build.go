package mr

import (
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Graph is what the function given to Define builds: stages made by Read, Group and Each,
// and the channels by which each stage reads earlier ones. There are no cycles, because a
// stage exists before any stage that reads it. Errors are collected and reported together,
// each with the position of the call that caused it.
type Graph struct {
	name       string
	declaredAt string   // of Define
	stages     []*stage // in the order of their calls
	links      []*link  // in the order of their calls
	sides      []anySide
	properties map[string]string
	named      outputNames
	main       *stage // the stage that writes the main output; nil if none does
	errs       []error
}

// Set sets a default of a property for this job; the command line overrides it.
func (g *Graph) Set(property, value string) { g.properties[property] = value }

func (g *Graph) addOutput(name string, open func(*Task) error) {
	if err := g.named.add(name, open); err != nil {
		g.errorf(callerPosition(), "%w", err)
	}
}

// errorf adds an error at a position in the user's code.
func (g *Graph) errorf(place, format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf("%s: job %s: %w", place, g.name, fmt.Errorf(format, args...)))
}

// stage is the part of a Stage that does not depend on its types.
type stage struct {
	graph      *Graph
	name       string
	declaredAt string       // file:line
	source     bool         // it was made by Read
	input      splitter     // of a source
	nodes      int          // as set; 0: as its input requires
	slots      dag.SlotKind // as set
	reads      []*link      // without sides
	sides      []*link
	read       bool            // some stage reads it
	writes     bool            // it writes some output
	disallowed preempt.ModeSet // modes that its functions do not support
	run        func(t *Task, n *task.NodeRun) error
}

// link is an edge of the graph.
type link struct {
	from, to   *stage
	channel    dag.Channel
	connection dag.Connection
	stored     bool   // the files survive the machine of their writer
	machines   int    // Nodes of the reader of a per-machine edge, unless it sets its own number
	declaredAt string // file:line
}

// isLive reports whether both ends run at the same time.
func (l *link) isLive() bool { return l.channel != dag.ChannelFile }

// addStage adds a stage. The user's code made it.
func (g *Graph) addStage(name string) *stage {
	s := &stage{graph: g, name: name, declaredAt: callerPosition()}
	if other := g.stageNamed(name); other != nil {
		g.errorf(s.declaredAt, "stage %q: name used twice, first at %s", name, other.declaredAt)
	}
	g.stages = append(g.stages, s)
	return s
}

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

func (s *stage) errorfAt(place, format string, args ...any) {
	s.graph.errorf(place, "stage %q: %w", s.name, fmt.Errorf(format, args...))
}

// slotKind is the kind of slots that the stage's Nodes take: as set, else a map slot if it
// reads the job's input and a reduce slot otherwise.
func (s *stage) slotKind() dag.SlotKind {
	switch {
	case s.slots != dag.SlotDefault:
		return s.slots
	case s.source:
		return dag.SlotMap
	}
	return dag.SlotReduce
}

// link joins a stage to one that it reads, and reports whether it could.
func (g *Graph) link(l *link) bool {
	switch {
	case l.from == nil:
		l.to.errorf("a channel that no stage has made")
	case l.from.graph != g:
		l.to.errorfAt(l.declaredAt, "channel of stage %q, which belongs to another graph", l.from.name)
	case g.linked(l.from, l.to):
		l.to.errorfAt(l.declaredAt, "reads stage %q twice; put a stage between them, such as mr.Each with mr.IdentityMapper", l.from.name)
	default:
		g.links = append(g.links, l)
		l.from.read = true
		return true
	}
	return false
}

func (g *Graph) linked(from, to *stage) bool {
	for _, l := range g.links {
		if l.from == from && l.to == to {
			return true
		}
	}
	return false
}
