package dag

import "slices"

// findCycles finds cycles in a graph that is given by the predecessors of each vertex. It
// finds at least one if there are any, and no two that share a vertex. Each cycle follows
// the edges and starts at its lowest vertex.
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

// peeler removes vertices without predecessors until none are left (Kahn's algorithm). The
// vertices that remain lie on cycles, or behind one.
type peeler struct {
	before   [][]int // by vertex: predecessors
	after    [][]int // by vertex: successors
	removed  []bool  // by vertex: removed
	inDegree []int   // by vertex: edges from vertices that are not removed
	ready    []int   // vertices of in-degree 0; some may be removed already
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

// remove removes a vertex and its edges.
func (p *peeler) remove(v int) {
	p.removed[v] = true
	for _, reader := range p.after[v] {
		if p.inDegree[reader]--; p.inDegree[reader] == 0 && !p.removed[reader] {
			p.ready = append(p.ready, reader)
		}
	}
}

// findCycle walks from a vertex to predecessors until it meets a vertex again. Each vertex
// that remains has a predecessor that remains.
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
// vertex.
func fromLowest(walk []int) []int {
	slices.Reverse(walk)
	lowest := slices.Index(walk, slices.Min(walk))
	return slices.Concat(walk[lowest:], walk[:lowest])
}
