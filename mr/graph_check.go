package mr

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
)

// check returns all errors that were made in building the graph. Package dag validates the
// shape only if this package found no error, because the messages of package dag do not name
// positions in the user's code.
func (g *Graph) check() error {
	if len(g.stages) == 0 {
		g.errorf(g.declaredAt, "a graph without stages")
	}
	for _, s := range g.stages {
		if !s.read && !s.writes {
			s.errorf("no stage reads what it emits: Write it, with NullOutput to drop it")
		}
	}
	for _, l := range g.links {
		g.checkCounts(l)
	}
	for _, f := range g.changed {
		if !f.used {
			g.errorf(f.changedAt, "a changed channel that no stage reads: a method of a Channel changes a copy, which it returns; give that copy to the stage")
		}
	}
	for _, side := range g.sides {
		side.check()
	}
	for _, name := range slices.Sorted(maps.Keys(g.named)) {
		if len(g.named[name].writers) == 0 {
			g.errorf(g.declaredAt, "output %q: no stage writes to it; give it to one by With", name)
		}
	}
	if len(g.errs) == 0 {
		g.checkShape()
	}
	return errors.Join(g.errs...)
}

// someNodes replaces a number of Nodes that is known only in a run.
const someNodes = 2

// checkShape asks package dag to validate the graph, once the checks of this package have
// passed.
func (g *Graph) checkShape() {
	sources := make(map[string]int)
	for _, s := range g.stages {
		sources[s.name] = someNodes
	}
	if err := g.shape(sources, someNodes).Validate(); err != nil {
		g.errorf(g.declaredAt, "%w", err)
	}
}

// nodeCount is the number of Nodes of a stage, as far as the graph determines it. Equal
// nodeCounts mean the same number in every run.
type nodeCount struct {
	kind   countKind
	fixed  int
	source *stage
}

// countKind identifies the source of a count.
type countKind int

const (
	asReduces countKind = iota // the property mapreduce.job.reduces
	isFixed                    // nodeCount.fixed
	asSplits                   // the number of splits of nodeCount.source
)

// number returns the count in a run.
func (c nodeCount) number(sources map[string]int, reduces int) int {
	switch c.kind {
	case isFixed:
		return c.fixed
	case asSplits:
		return sources[c.source.name]
	}
	return reduces
}

// String returns the count as text for error messages.
func (c nodeCount) String() string {
	switch {
	case c.kind == asSplits:
		return fmt.Sprintf("as many nodes as %q has splits", c.source.name)
	case c.kind == asReduces:
		return fmt.Sprintf("%s nodes", conf.JobReduces)
	case c.fixed == 1:
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", c.fixed)
}

// nodesOf returns the number of Nodes of a stage: as set by Nodes, one per split of an
// input, the number that a channel implies, or mapreduce.job.reduces. The first channel that
// implies a number decides; checkCounts refuses a channel that implies another number. The
// recursion ends because a stage reads only earlier stages.
func (g *Graph) nodesOf(s *stage) nodeCount {
	if s.nodes > 0 {
		return nodeCount{kind: isFixed, fixed: s.nodes}
	}
	if s.source {
		return nodeCount{kind: asSplits, source: s}
	}
	for _, l := range s.reads {
		switch l.connection {
		case dag.OneToOne:
			return g.nodesOf(l.from)
		case dag.Gather:
			return nodeCount{kind: isFixed, fixed: 1}
		case dag.PerMachine:
			return nodeCount{kind: isFixed, fixed: l.machines}
		}
	}
	return nodeCount{}
}

// checkCounts refuses a connection that does not fit the numbers of Nodes of its two stages.
func (g *Graph) checkCounts(l *link) {
	from, to := g.nodesOf(l.from), g.nodesOf(l.to)
	switch {
	case l.connection == dag.OneToOne && from != to:
		l.to.errorfAt(l.declaredAt, "one-to-one between %v of stage %q and %v; set the same number with Nodes, or use Shuffle", from, l.from.name, to)
	case l.connection == dag.AllToAll && to != g.nodesOf(l.files.owner.to):
		l.to.errorfAt(l.declaredAt, "reads a channel of stage %q that is divided among %v of stage %q, and has %v; call Shuffle once for each of them, or set the same number with Nodes",
			l.from.name, g.nodesOf(l.files.owner.to), l.files.owner.to.name, to)
	case l.connection == dag.Gather && to != (nodeCount{kind: isFixed, fixed: 1}):
		l.to.errorfAt(l.declaredAt, "gather into %v instead of 1", to)
	case l.channel == dag.ChannelSHM && l.connection != dag.OneToOne && (from.kind != isFixed || to.kind != isFixed):
		l.to.errorfAt(l.declaredAt, "%v within a process puts all nodes of both stages on one machine, which has to have slots for them: set how many with Nodes (stage %q has %v, this one %v), or use Pipe or Stream",
			l.connection, l.from.name, from, to)
	}
}

// checkLike refuses a channel whose codecs differ from the codecs of first, with which it is
// merged.
func checkLike[K, V any](to *stage, c, first Channel[K, V]) {
	if reflect.TypeOf(c.route.keys) != reflect.TypeOf(first.route.keys) || reflect.TypeOf(c.route.values) != reflect.TypeOf(first.route.values) {
		to.errorfAt(c.edge.declaredAt, "channels with different codecs: (%T, %T) and (%T, %T)", c.route.keys, c.route.values, first.route.keys, first.route.values)
	}
}

// checkLive refuses streams and pipes in addition to other channels. If a stage read one
// channel to its end while another channel fills up, the job would deadlock.
func (s *stage) checkLive() {
	for _, l := range s.reads {
		if l.isLive() && len(s.reads) > 1 {
			s.errorfAt(l.declaredAt, "a %v channel in addition to others; a stage reads files, or one stream or pipe", l.channel)
			return
		}
	}
}

// checkCodecs refuses a channel whose keys or values must be encoded and have no codec that
// keeps them. Only a pipe within one process passes records as they are; sorting and
// partitioning need encoded keys.
func checkCodecs[K, V any](to *stage, sorted bool, c Channel[K, V]) {
	encoded := sorted || c.edge.channel != dag.ChannelSHM
	var errs []error
	if encoded || c.edge.connection == dag.AllToAll || c.route.keyErr == nil && !copiesInPlace[K]() {
		errs = append(errs, checkKeys(&c.route))
	}
	if encoded || !copiesInPlace[V]() {
		errs = append(errs, checkValues(&c.route))
	}
	if err := errors.Join(errs...); err != nil {
		to.errorfAt(c.edge.declaredAt, "channel of stage %q: %w", c.from.name, err)
	}
}
