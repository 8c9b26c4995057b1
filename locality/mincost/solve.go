package mincost

import (
	"cmp"
	"math"
	"slices"
)

// Solve routes what waits and repairs what has changed. It returns how many
// units have no way to the Sink; they go on waiting.
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

// drain sends off what waits. The units that would pay most for coming late go
// first, so that few have to be moved again.
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

// regret is how much dearer the ways out of v are than the best, all together.
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

// luckyTail is how many nodes at the end of a path are lucky, with the last: a
// machine, its rack and what leads to all racks.
const luckyTail = 5

// send takes units from v to the nearest place that wants some, and reports
// whether there is one.
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
		units = min(units, n.arcs[n.marks[w].via].room)
	}
	tail := luckyTail
	for w := end; w != v; w = n.from(n.marks[w].via) {
		n.push(n.marks[w].via, units)
		if tail--; tail > 0 {
			n.marks[w].lucky = n.search.round
		}
	}
	n.owe(v, -units)
	n.owe(end, units)
	return true
}

// fill gives v the units it misses: what others had sent to the Sink is called
// back on the cheapest way.
func (n *Network) fill(v Vertex) {
	for n.vertices[v].balance < 0 && n.search.backward(n, v) {
		units := -n.vertices[v].balance
		for w := Sink; w != v; w = n.arcs[n.marks[w].via].to {
			units = min(units, n.arcs[n.marks[w].via].room)
		}
		for w := Sink; w != v; {
			a := n.marks[w].via
			n.push(a, units)
			w = n.arcs[a].to
		}
		n.vertices[v].balance += units
	}
}

// reduced is the reduced cost of an arc.
func (n *Network) reduced(a Arc) int64 {
	return n.arcs[a].cost + n.marks[n.from(a)].potential - n.marks[n.arcs[a].to].potential
}

// repair fills up the arcs that have become worth while. It reports false when
// one has no end.
func (n *Network) repair() bool {
	for _, changed := range n.changed {
		for _, a := range [...]Arc{changed, changed ^ 1} {
			room := n.arcs[a].room
			if room <= 0 || n.reduced(a) >= 0 {
				continue
			}
			if room > max(n.supplied, 0) && n.arcs[a].to != Sink {
				return false
			}
			n.push(a, room)
			n.owe(n.arcs[a].to, room)
			n.owe(n.from(a), -room)
		}
	}
	n.changed = n.changed[:0]
	return true
}

// restart forgets all flow and all potentials.
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

// settle gives new nodes potentials that fit what is there: as high as the arcs
// that lead to them allow, or, where none does, as low as the arcs from them do.
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

// ceiling is the highest potential of v that the arcs to it allow; ok is false
// when there is no such arc from a node that has a potential.
func (n *Network) ceiling(v Vertex) (limit int64, ok bool) {
	for _, b := range n.vertices[v].arcs {
		from := n.arcs[b].to
		if n.arcs[b^1].room <= 0 || n.vertices[from].fresh {
			continue
		}
		if p := n.marks[from].potential + n.arcs[b^1].cost; !ok || p < limit {
			limit, ok = p, true
		}
	}
	return limit, ok
}

// floor is the lowest potential of v that the arcs from it allow, 0 when there
// is none.
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
