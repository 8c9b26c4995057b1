package mincost

import (
	"cmp"
	"math"
	"slices"
)

// Solve routes the supplies and repairs the flow after changes. It returns the number of
// units that cannot reach the Sink; they remain to be routed.
func (n *Network) Solve() (unrouted int64) {
	n.settle()
	if !n.repair() {
		n.restart()
	}
	n.drain()
	kept := n.excess[:0]
	for _, v := range n.excess {
		if n.vertices[v].balance < 0 {
			n.fill(v)
		}
		if n.vertices[v].balance > 0 {
			unrouted += n.vertices[v].balance
			kept = append(kept, v)
			continue
		}
		n.vertices[v].listed = false
	}
	n.excess = kept
	return unrouted
}

// drain routes the units at vertices. Units that would pay most for a late choice go first,
// so that few have to be moved again.
func (n *Network) drain() {
	type waiting struct {
		node   Vertex
		regret int64
	}
	var queue []waiting
	for _, v := range n.excess {
		if n.vertices[v].balance > 0 {
			queue = append(queue, waiting{v, n.regret(v)})
		}
	}
	slices.SortFunc(queue, func(a, b waiting) int {
		return cmp.Or(-cmp.Compare(a.regret, b.regret), cmp.Compare(a.node, b.node))
	})
	n.search.shortages = slices.ContainsFunc(n.excess, func(v Vertex) bool { return n.vertices[v].balance < 0 })
	for _, w := range queue {
		for n.vertices[w.node].balance > 0 && n.send(w.node) {
		}
	}
}

// regret returns the sum, over the arcs from v, of their cost above the cheapest arc.
func (n *Network) regret(v Vertex) (sum int64) {
	least := int64(math.MaxInt64)
	open := n.vertices[v].arcs[:n.vertices[v].open]
	for _, a := range open {
		c := n.reduced(a)
		least = min(least, c)
		sum += c
	}
	return sum - least*int64(len(open))
}

// recentTail is the number of vertices at the end of a path that are preferred afterwards: a
// machine, its rack and the vertices that lead to all racks.
const recentTail = 5

// send routes units from v to the nearest vertex that accepts some, and reports whether
// there is one.
func (n *Network) send(v Vertex) bool {
	end, ok := n.search.forward(n, v)
	if !ok {
		return false
	}
	units := n.vertices[v].balance
	if end != Sink {
		units = min(units, -n.vertices[end].balance)
	}
	for w := end; w != v; w = n.from(n.marks[w].via) {
		units = min(units, n.arcs[n.marks[w].via].residual)
	}
	tail := recentTail
	for w := end; w != v; w = n.from(n.marks[w].via) {
		n.push(n.marks[w].via, units)
		if tail--; tail > 0 {
			n.marks[w].recent = n.search.round
		}
	}
	n.owe(v, -units)
	n.owe(end, units)
	return true
}

// fill supplies the units that v is missing: it takes back units from the Sink along the
// cheapest path.
func (n *Network) fill(v Vertex) {
	for n.vertices[v].balance < 0 && n.search.backward(n, v) {
		units := -n.vertices[v].balance
		for w := Sink; w != v; w = n.arcs[n.marks[w].via].to {
			units = min(units, n.arcs[n.marks[w].via].residual)
		}
		for w := Sink; w != v; {
			a := n.marks[w].via
			n.push(a, units)
			w = n.arcs[a].to
		}
		n.vertices[v].balance += units
	}
}

// reduced returns the reduced cost of an arc.
func (n *Network) reduced(a Arc) int64 {
	return n.arcs[a].cost + n.marks[n.from(a)].potential - n.marks[n.arcs[a].to].potential
}

// repair fills the arcs whose reduced cost has become negative. It returns false if such an
// arc has too much residual capacity to fill.
func (n *Network) repair() bool {
	for _, changed := range n.changed {
		for _, a := range [...]Arc{changed, changed ^ 1} {
			residual := n.arcs[a].residual
			if residual <= 0 || n.reduced(a) >= 0 {
				continue
			}
			if residual > max(n.supplied, 0) && n.arcs[a].to != Sink {
				return false
			}
			n.push(a, residual)
			n.owe(n.arcs[a].to, residual)
			n.owe(n.from(a), -residual)
		}
	}
	n.changed = n.changed[:0]
	return true
}

// restart removes all flow and all potentials.
func (n *Network) restart() {
	for a := Arc(0); int(a) < len(n.arcs); a += 2 {
		if flow := n.Flow(a); flow > 0 {
			n.push(a^1, flow)
		}
	}
	for v := range n.vertices {
		n.marks[v].potential = 0
		n.owe(Vertex(v), n.vertices[v].supply-n.vertices[v].balance)
	}
	n.changed = n.changed[:0]
}

// settle sets the potentials of new vertices: as high as the arcs to them allow or, if there
// are none, as low as the arcs from them do.
func (n *Network) settle() {
	fresh := n.fresh
	for found := true; found; {
		found = false
		for _, v := range fresh {
			if limit, ok := n.ceiling(v); ok && (n.vertices[v].fresh || limit < n.marks[v].potential) {
				n.marks[v].potential, n.vertices[v].fresh = limit, false
				found = true
			}
		}
	}
	for _, v := range fresh {
		if n.vertices[v].fresh {
			n.marks[v].potential, n.vertices[v].fresh = n.floor(v), false
		}
	}
	n.fresh = fresh[:0]
}

// ceiling returns the highest potential of v that the arcs to it allow; ok is false if no
// arc from a vertex with a potential ends at v.
func (n *Network) ceiling(v Vertex) (limit int64, ok bool) {
	for _, b := range n.vertices[v].arcs {
		from := n.arcs[b].to
		if n.arcs[b^1].residual <= 0 || n.vertices[from].fresh {
			continue
		}
		if p := n.marks[from].potential + n.arcs[b^1].cost; !ok || p < limit {
			limit, ok = p, true
		}
	}
	return limit, ok
}

// floor returns the lowest potential of v that the arcs from it allow, 0 if there are none.
func (n *Network) floor(v Vertex) (limit int64) {
	first := true
	for _, a := range n.vertices[v].arcs[:n.vertices[v].open] {
		to := n.arcs[a].to
		if n.vertices[to].fresh {
			continue
		}
		if p := n.marks[to].potential - n.arcs[a].cost; first || p > limit {
			limit, first = p, false
		}
	}
	return limit
}
