package dag

import (
	"fmt"
	"slices"
	"strings"
)

// checkCycles refuses cycles of edges. If there are none, it refuses bundles that wait for
// each other's files or their own.
func (g Graph) checkCycles(report errorFunc) {
	edges := g.validEdges()
	writers := make([][]int, len(g.Stages))
	for _, e := range edges {
		writers[e.to] = append(writers[e.to], e.from)
	}
	cycles := findCycles(writers)
	for _, cycle := range cycles {
		report("cycle %s", g.cycleText(cycle))
	}
	if len(cycles) == 0 {
		g.checkWaits(edges, report)
	}
}

// cycleText names the stages of a cycle, and the first stage again at the end.
func (g Graph) cycleText(cycle []int) string {
	return joinNames(append(cycle, cycle[0]), " -> ", g.stageName)
}

// checkWaits checks classes of bundles instead of bundles. This is exact: every join of two
// classes, copy by copy or all with all, joins the first bundle of one class to the first
// bundle of the other. So every cycle of classes contains a cycle of bundles.
func (g Graph) checkWaits(edges []validEdge, report errorFunc) {
	l := g.Layout()
	after := make([][]int, len(l.Bundles))
	for i, bundle := range l.Bundles {
		for _, writer := range bundle.After {
			if writer != i {
				after[i] = append(after[i], writer)
			}
		}
	}
	files := make(map[bundlePair]Edge)
	for _, e := range edges {
		if e.Channel != ChannelFile || !l.connects(e) {
			continue
		}
		c := bundlePair{writer: l.bundleOf(e.from), reader: l.bundleOf(e.to)}
		files[c] = e.Edge
		if c.writer == c.reader {
			report("edge %v: %s waits for a file that it writes itself", e.Edge, g.bundleText(l, c.reader))
		}
	}
	for _, cycle := range findCycles(after) {
		var parts []string
		for i, writer := range cycle {
			c := bundlePair{writer: writer, reader: cycle[(i+1)%len(cycle)]}
			parts = append(parts, fmt.Sprintf("%s waits for %v", g.bundleText(l, c.reader), files[c]))
		}
		report("cycle of files: %s", strings.Join(parts, ", "))
	}
}

// bundlePair is two classes of bundles, one of which reads files of the other.
type bundlePair struct{ writer, reader int }

// bundleText describes a class of bundles by its stages, as a group when each bundle is one
// group.
func (g Graph) bundleText(l *Layout, bundle int) string {
	kind := "bundle"
	if !l.IsGang(bundle) {
		kind = "group"
	}
	return kind + " " + g.stageSet(l.stagesOf(bundle))
}

// stageSet lists stages as messages name a group or a bundle: {map, combine}.
func (g Graph) stageSet(stages []int) string {
	return "{" + joinNames(stages, ", ", g.stageName) + "}"
}

func (g Graph) stageName(stage int) string { return g.Stages[stage].Name }

// findCycles finds cycles in a graph that is given by the predecessors of each item. It
// finds at least one if there are any, and no two that share an item. Each cycle follows
// the edges and starts at its lowest item.
func findCycles(before [][]int) [][]int {
	p := newPeeler(before)
	var cycles [][]int
	for v := range before {
		for !p.removed[v] {
			cycle := p.findCycle(v)
			cycles = append(cycles, cycle)
			for _, on := range cycle {
				p.remove(on)
			}
			p.peel()
		}
	}
	return cycles
}

// peeler removes items without predecessors until none are left (Kahn's algorithm). The
// items that remain lie on cycles, or behind one.
type peeler struct {
	before   [][]int // predecessors by item
	after    [][]int // successors by item
	removed  []bool  // whether the item is removed, by item
	inDegree []int   // number of edges from items that are not removed, by item
	ready    []int   // items of in-degree 0; some may be removed already
}

// newPeeler returns a peeler that has peeled once.
func newPeeler(before [][]int) *peeler {
	n := len(before)
	p := &peeler{before: before, after: make([][]int, n), removed: make([]bool, n), inDegree: make([]int, n)}
	for v, writers := range before {
		p.inDegree[v] = len(writers)
		for _, w := range writers {
			p.after[w] = append(p.after[w], v)
		}
		if len(writers) == 0 {
			p.ready = append(p.ready, v)
		}
	}
	p.peel()
	return p
}

// peel removes ready items until none is ready. Removing one may make others ready.
func (p *peeler) peel() {
	for len(p.ready) > 0 {
		last := len(p.ready) - 1
		v := p.ready[last]
		p.ready = p.ready[:last]
		if !p.removed[v] { // it may be on a cycle that was removed meanwhile
			p.remove(v)
		}
	}
}

// remove removes an item and its edges.
func (p *peeler) remove(v int) {
	p.removed[v] = true
	for _, reader := range p.after[v] {
		if p.inDegree[reader]--; p.inDegree[reader] == 0 && !p.removed[reader] {
			p.ready = append(p.ready, reader)
		}
	}
}

// findCycle walks from an item to predecessors until it reaches an item for the second time.
// Each item that remains has a predecessor that remains.
func (p *peeler) findCycle(v int) []int {
	place := make(map[int]int)
	var path []int
	for {
		if first, again := place[v]; again {
			return fromLowest(path[first:])
		}
		place[v] = len(path)
		path = append(path, v)
		v = p.before[v][slices.IndexFunc(p.before[v], func(w int) bool { return !p.removed[w] })]
	}
}

// fromLowest turns a walk against the edges into a cycle along them, starting at its lowest
// item.
func fromLowest(walk []int) []int {
	slices.Reverse(walk)
	lowest := slices.Index(walk, slices.Min(walk))
	return slices.Concat(walk[lowest:], walk[:lowest])
}
