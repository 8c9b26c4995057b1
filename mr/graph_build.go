package mr

import (
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Graph is what the function given to Define builds: stages made by Read, Group
// and Each, and the channels by which each reads those before it. There are no
// cycles, since a stage is there before whatever reads it. Faults are gathered
// and reported together, each at the place of the call that made it.
type Graph struct {
	name       string
	declaredAt string   // of Define
	stages     []*stage // in the order in which they were made
	links      []*link  // likewise
	sides      []anySide
	properties map[string]string
	named      outputNames
	main       *stage // that writes the main output; nil before one does
	errs       []error
}

// Set gives a property a default for this job; the command line overrides it.
func (g *Graph) Set(property, value string) { g.properties[property] = value }

func (g *Graph) addOutput(name string, open func(*Task) error) {
	if err := g.named.add(name, open); err != nil {
		g.errorf(callerPosition(), "%w", err)
	}
}

// errorf notes what is wrong at a place.
func (g *Graph) errorf(place, format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf("%s: job %s: %w", place, g.name, fmt.Errorf(format, args...)))
}

// stage is what of a Stage does not depend on its types.
type stage struct {
	graph      *Graph
	name       string
	declaredAt string       // file:line where it was made
	source     bool         // it was made by Read
	input      splitter     // of a source
	nodes      int          // as set; 0: as many as follow from what it reads
	slots      dag.SlotKind // as set
	reads      []*link      // what it reads, sides aside
	sides      []*link
	read       bool            // some stage reads it
	writes     bool            // it writes some output
	disallowed preempt.ModeSet // that its functions cannot bear
	run        func(t *Task, n *task.Node) error
}

// link is an edge of the graph.
type link struct {
	from, to   *stage
	channel    dag.Channel
	connection dag.Connection
	stored     bool   // a file that outlives the machine of its writer
	machines   int    // Nodes of the reader of a per-machine edge, unless it says otherwise
	declaredAt string // file:line of the call that made the channel
}

// isLive reports whether the two ends run at once.
func (l *link) isLive() bool { return l.channel != dag.ChannelFile }

// addStage adds a stage that is made two calls below the user's code.
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

// errorf notes what is wrong with the stage, at its own place.
func (s *stage) errorf(format string, args ...any) { s.errorfAt(s.declaredAt, format, args...) }

func (s *stage) errorfAt(place, format string, args ...any) {
	s.graph.errorf(place, "stage %q: %w", s.name, fmt.Errorf(format, args...))
}

// slotKind is what the stage's Nodes occupy: as set, else a map slot for those
// that read the job's input and a reduce slot for others.
func (s *stage) slotKind() dag.SlotKind {
	switch {
	case s.slots != dag.SlotDefault:
		return s.slots
	case s.source:
		return dag.SlotMap
	}
	return dag.SlotReduce
}

// link joins a stage to one that it reads, unless that makes no sense.
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
