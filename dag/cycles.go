package dag

import "slices"

// findCycles finds cycles in a graph given by the predecessors of each vertex:
// at least one wherever there are any, and no two that share a vertex. Each goes
// along the edges and begins at its lowest vertex.
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

// peeler removes from a graph, again and again, vertices that nothing leads
// into. What it cannot remove lies on cycles or behind one.
type peeler struct {
	before   [][]int // by vertex: what leads into it
	after    [][]int // by vertex: what it leads into
	removed  []bool  // by vertex: removed
	inDegree []int   // by vertex: edges into it from vertices that are not gone
	ready    []int   // vertices that nothing leads into, to be removed if they are not gone
}

// newPeeler has peeled already.
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

func (p *peeler) peel() {
	for len(p.ready) > 0 {
		last := len(p.ready) - 1
		v := p.ready[last]
		p.ready = p.ready[:last]
		if !p.removed[v] { // nor is it on a cycle that was removed meanwhile
			p.remove(v)
		}
	}
}

// remove takes a vertex and its edges away.
func (p *peeler) remove(v int) {
	p.removed[v] = true
	for _, reader := range p.after[v] {
		if p.inDegree[reader]--; p.inDegree[reader] == 0 && !p.removed[reader] {
			p.ready = append(p.ready, reader)
		}
	}
}

// findCycle goes from a vertex to one before it, and on, until it meets one
// again. All that are not gone have one before them.
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

// fromLowest is a walk against the edges as one along them, from its lowest vertex.
func fromLowest(walk []int) []int {
	slices.Reverse(walk)
	lowest := slices.Index(walk, slices.Min(walk))
	return slices.Concat(walk[lowest:], walk[:lowest])
}
