package mr

import (
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
)

// nodeCount is the number of Nodes of a stage, as far as the graph determines it. Two counts
// that are equal are equal in every run.
type nodeCount struct {
	kind   countKind
	fixed  int
	source *stage
}

type countKind int

const (
	asReduces countKind = iota // the property mapreduce.job.reduces
	isFixed                    // nodeCount.fixed
	asSplits                   // the number of splits of nodeCount.source
)

// number is the count in a run.
func (c nodeCount) number(sources map[string]int, reduces int) int {
	switch c.kind {
	case isFixed:
		return c.fixed
	case asSplits:
		return sources[c.source.name]
	}
	return reduces
}

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

// nodesOf is how many Nodes a stage has.
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

// checkCounts refuses connections that do not join the Nodes of their ends.
func (g *Graph) checkCounts(l *link) {
	from, to := g.nodesOf(l.from), g.nodesOf(l.to)
	switch {
	case l.connection == dag.OneToOne && from != to:
		l.to.errorfAt(l.declaredAt, "one-to-one between %v of stage %q and %v", from, l.from.name, to)
	case l.connection == dag.Gather && to != (nodeCount{kind: isFixed, fixed: 1}):
		l.to.errorfAt(l.declaredAt, "gather into %v instead of 1", to)
	case l.channel == dag.ChannelSHM && l.connection != dag.OneToOne && (from.kind != isFixed || to.kind != isFixed):
		l.to.errorfAt(l.declaredAt, "%v within a process puts all nodes of both stages on one machine, which has to have slots for them: set how many with Nodes (stage %q has %v, this one %v), or use Pipe or Stream",
			l.connection, l.from.name, from, to)
	}
}
