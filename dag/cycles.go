package dag

import "slices"

// findCycles finds cycles in a graph given by the predecessors of each vertex:
// at least one wherever there are any, and no two that share a vertex. Each goes
// along the edges and begins at its lowest vertex.
func findCycles(before [][]int) [][]int {
	p := newPeeler(before)
	var cycles [][]int
	for v := range before {
		for !p.gone[v] {
			cycle := p.walkBack(v)
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
	before [][]int // by vertex: what leads into it
	after  [][]int // by vertex: what it leads into
	gone   []bool  // by vertex: removed
	waits  []int   // by vertex: edges into it from vertices that are not gone
	free   []int   // vertices that nothing leads into, to be removed if they are not gone
}

// newPeeler has peeled already.
func newPeeler(before [][]int) *peeler {
	n := len(before)
	p := &peeler{before: before, after: make([][]int, n), gone: make([]bool, n), waits: make([]int, n)}
	for v, writers := range before {
		p.waits[v] = len(writers)
		for _, w := range writers {
			p.after[w] = append(p.after[w], v)
		}
		if len(writers) == 0 {
			p.free = append(p.free, v)
		}
	}
	p.peel()
	return p
}

func (p *peeler) peel() {
	for len(p.free) > 0 {
		last := len(p.free) - 1
		v := p.free[last]
		p.free = p.free[:last]
		if !p.gone[v] { // nor is it on a cycle that was removed meanwhile
			p.remove(v)
		}
	}
}

// remove takes a vertex and its edges away.
func (p *peeler) remove(v int) {
	p.gone[v] = true
	for _, reader := range p.after[v] {
		if p.waits[reader]--; p.waits[reader] == 0 && !p.gone[reader] {
			p.free = append(p.free, reader)
		}
	}
}

// walkBack goes from a vertex to one before it, and on, until it meets one
// again. All that are not gone have one before them.
func (p *peeler) walkBack(v int) []int {
	place := make(map[int]int)
	var path []int
	for {
		if first, again := place[v]; again {
			return turned(path[first:])
		}
		place[v] = len(path)
		path = append(path, v)
		v = p.before[v][slices.IndexFunc(p.before[v], func(w int) bool { return !p.gone[w] })]
	}
}

// turned is a walk against the edges as one along them, from its lowest vertex.
func turned(walk []int) []int {
	slices.Reverse(walk)
	lowest := slices.Index(walk, slices.Min(walk))
	return slices.Concat(walk[lowest:], walk[:lowest])
}
