package mincost

import "slices"

// Vertex identifies a vertex of a Network.
type Vertex int32

// Sink is the vertex to which all units are routed.
const Sink Vertex = 0

// Arc identifies an arc. Its number is even; the number after it is its reverse, whose
// residual capacity is the flow.
type Arc int32

// Unbounded is the capacity of an arc without a limit.
const Unbounded = int64(1) << 60

// Network is a network with a flow that Solve keeps optimal. Create it with New.
type Network struct {
	arcs     []arc    // each arc is followed by its reverse
	vertices []vertex // by Vertex
	marks    []mark   // by Vertex: the state of searches

	excess   []Vertex // vertices whose balance may not be 0, each once
	fresh    []Vertex // vertices without a potential
	changed  []Arc    // arcs whose reduced cost may be negative
	supplied int64    // sum of all supplies

	freeArcs     []Arc
	freeVertices []Vertex

	search search
}

// arc is an arc or the reverse of one. The cost of a reverse is the negative cost of the
// arc.
type arc struct {
	to       Vertex
	at       int32 // its index in the arcs of its start vertex
	residual int64 // residual capacity
	cost     int64
}

// vertex is a vertex with its arcs. Searches visit only arcs[:open], so full arcs cost them
// no time.
type vertex struct {
	arcs    []Arc // arcs that start here; arcs with residual capacity first
	open    int   // number of arcs with residual capacity
	balance int64 // units to be routed from here; negative: units that are missing here
	supply  int64
	listed  bool // in Network.excess
	fresh   bool // in Network.fresh
}

// New returns a network that has only the Sink.
func New() *Network {
	n := new(Network)
	n.appendVertex()
	return n
}

// Reset removes everything but the Sink, and keeps the memory for reuse.
func (n *Network) Reset() {
	n.vertices, n.marks = n.vertices[:0], n.marks[:0]
	n.arcs, n.changed = n.arcs[:0], n.changed[:0]
	n.excess, n.fresh = n.excess[:0], n.fresh[:0]
	n.freeArcs, n.freeVertices = n.freeArcs[:0], n.freeVertices[:0]
	n.supplied = 0
	n.appendVertex()
}

// appendVertex appends a vertex. It reuses the arc list of an earlier vertex at that place.
func (n *Network) appendVertex() {
	if last := len(n.vertices); last < cap(n.vertices) {
		n.vertices = n.vertices[:last+1]
		n.vertices[last] = vertex{arcs: n.vertices[last].arcs[:0]}
	} else {
		n.vertices = append(n.vertices, vertex{})
	}
	n.marks = append(n.marks, mark{exit: noExit})
}

// AddVertex adds a vertex without arcs and supply.
func (n *Network) AddVertex() Vertex {
	var v Vertex
	if last := len(n.freeVertices) - 1; last >= 0 {
		v, n.freeVertices = n.freeVertices[last], n.freeVertices[:last]
	} else {
		v = Vertex(len(n.vertices))
		n.appendVertex()
	}
	if !n.vertices[v].fresh {
		n.vertices[v].fresh = true
		n.fresh = append(n.fresh, v)
	}
	return v
}

// AddArc adds an arc. Neither capacity nor cost, which is per unit, may be negative. No arc
// starts at the Sink.
func (n *Network) AddArc(from, to Vertex, capacity, cost int64) Arc {
	var a Arc
	if last := len(n.freeArcs) - 1; last >= 0 {
		a, n.freeArcs = n.freeArcs[last], n.freeArcs[:last]
	} else {
		a = Arc(len(n.arcs))
		n.arcs = append(n.arcs, arc{}, arc{})
	}
	n.arcs[a] = arc{to: to, cost: cost}
	n.arcs[a^1] = arc{to: from, cost: -cost}
	n.attach(from, a)
	n.attach(to, a^1)
	n.addResidual(a, capacity)
	n.changed = append(n.changed, a)
	return a
}

// AddSupply adds more units, possibly a negative number, to the supply at v. The supply must
// not become negative.
func (n *Network) AddSupply(v Vertex, more int64) {
	more = max(more, -n.vertices[v].supply)
	n.vertices[v].supply += more
	n.supplied += more
	n.owe(v, more)
}

// SetCapacity sets the capacity of an arc. Units that no longer fit are routed again from
// its start.
func (n *Network) SetCapacity(a Arc, capacity int64) {
	flow := n.Flow(a)
	if back := flow - capacity; back > 0 {
		n.push(a^1, back)
		n.owe(n.from(a), back)
		n.owe(n.arcs[a].to, -back)
	}
	n.addResidual(a, capacity-n.Flow(a)-n.arcs[a].residual)
	n.changed = append(n.changed, a)
}

// Remove removes a vertex with its arcs and its supply and reports whether it succeeded. It
// fails if there is flow through the vertex; first remove its supply, or set the capacities
// of its arcs to 0, and call Solve.
func (n *Network) Remove(v Vertex) bool {
	for _, a := range n.vertices[v].arcs {
		if n.Flow(a&^1) != 0 {
			return false
		}
	}
	n.AddSupply(v, -n.vertices[v].supply)
	if n.vertices[v].balance != 0 || v == Sink {
		return false
	}
	for _, a := range slices.Clone(n.vertices[v].arcs) {
		n.detach(v, a)
		n.detach(n.arcs[a].to, a^1)
		n.freeArcs = append(n.freeArcs, a&^1)
		n.arcs[a], n.arcs[a^1] = arc{}, arc{}
	}
	n.marks[v].potential = 0
	n.freeVertices = append(n.freeVertices, v)
	return true
}

// Flow returns the number of units on an arc.
func (n *Network) Flow(a Arc) int64 { return n.arcs[a^1].residual }

// Cost returns the total cost of the flow.
func (n *Network) Cost() (sum int64) {
	for a := 0; a < len(n.arcs); a += 2 {
		sum += n.arcs[a].cost * n.arcs[a+1].residual
	}
	return sum
}

func (n *Network) from(a Arc) Vertex { return n.arcs[a^1].to }

// owe changes the balance of v. The Sink has no balance.
func (n *Network) owe(v Vertex, units int64) {
	if v == Sink || units == 0 {
		return
	}
	n.vertices[v].balance += units
	if !n.vertices[v].listed {
		n.vertices[v].listed = true
		n.excess = append(n.excess, v)
	}
}

// push moves units along an arc with sufficient residual capacity.
func (n *Network) push(a Arc, units int64) {
	n.addResidual(a, -units)
	n.addResidual(a^1, units)
}

// addResidual changes the residual capacity of an arc, and keeps arcs with residual capacity
// before those without.
func (n *Network) addResidual(a Arc, units int64) {
	had := n.arcs[a].residual > 0
	n.arcs[a].residual += units
	if has := n.arcs[a].residual > 0; has == had {
		return
	}
	from := n.from(a)
	v := &n.vertices[from]
	if had {
		v.open--
		n.swap(v, int(n.arcs[a].at), v.open)
	} else {
		n.swap(v, int(n.arcs[a].at), v.open)
		v.open++
	}
	if n.arcs[a].to == Sink {
		n.findExit(from)
	}
}

// findExit records the cheapest arc with residual capacity from v to the Sink.
func (n *Network) findExit(v Vertex) {
	exit := noExit
	for _, a := range n.vertices[v].arcs[:n.vertices[v].open] {
		if n.arcs[a].to == Sink && (exit == noExit || n.arcs[a].cost < n.arcs[exit].cost) {
			exit = a
		}
	}
	n.marks[v].exit = exit
}

// swap exchanges two arcs of a vertex, and updates their indexes.
func (n *Network) swap(v *vertex, i, j int) {
	a, b := v.arcs[i], v.arcs[j]
	v.arcs[i], v.arcs[j] = b, a
	n.arcs[a].at, n.arcs[b].at = int32(j), int32(i)
}

// attach adds an arc without residual capacity to v.
func (n *Network) attach(v Vertex, a Arc) {
	n.arcs[a].at = int32(len(n.vertices[v].arcs))
	n.vertices[v].arcs = append(n.vertices[v].arcs, a)
}

// detach removes an arc from v. It first removes the arc's capacity, so that the arc lies
// behind the open arcs.
func (n *Network) detach(v Vertex, a Arc) {
	n.addResidual(a, -n.arcs[a].residual)
	node := &n.vertices[v]
	last := len(node.arcs) - 1
	n.swap(node, int(n.arcs[a].at), last)
	node.arcs = node.arcs[:last]
}
