package mincost

import "slices"

// Vertex is a place in a Network.
type Vertex int32

// Sink is where all units go.
const Sink Vertex = 0

// Arc is a way from one node to another. Its number is even; the one after it
// is its reverse, whose room is what flows.
type Arc int32

// Unbounded is the capacity of an arc that holds any number of units.
const Unbounded = int64(1) << 60

// Network is a flow that is kept optimal while the network changes. New makes
// one.
type Network struct {
	arcs     []arc    // arc and reverse side by side
	vertices []vertex // by Node
	marks    []mark   // by Node, what searches read and write

	excess   []Vertex // nodes whose balance may not be 0, each once
	fresh    []Vertex // nodes that have no potential of their own yet
	changed  []Arc    // arcs whose reduced cost may be negative
	supplied int64    // units in all supplies

	freeArcs     []Arc
	freeVertices []Vertex

	search search
}

// arc is a way, or the reverse of one. The cost of a reverse is negative.
type arc struct {
	to   Vertex
	at   int32 // where it stands in the arcs of its start
	room int64 // units that still fit
	cost int64
}

type vertex struct {
	arcs    []Arc // that start here, those with room before those without
	open    int   // how many have room
	balance int64 // units that wait here; below 0, units that are missing here
	supply  int64
	listed  bool // in Network.excess
	fresh   bool // in Network.fresh
}

// New is a network that has a Sink only.
func New() *Network {
	n := new(Network)
	n.appendVertex()
	return n
}

// Reset makes the network one that has a Sink only. What it holds is kept to be
// used again.
func (n *Network) Reset() {
	n.vertices, n.marks = n.vertices[:0], n.marks[:0]
	n.arcs, n.changed = n.arcs[:0], n.changed[:0]
	n.excess, n.fresh = n.excess[:0], n.fresh[:0]
	n.freeArcs, n.freeVertices = n.freeArcs[:0], n.freeVertices[:0]
	n.supplied = 0
	n.appendVertex()
}

// appendVertex appends a node, with the room for arcs that one had in its place.
func (n *Network) appendVertex() {
	if last := len(n.vertices); last < cap(n.vertices) {
		n.vertices = n.vertices[:last+1]
		n.vertices[last] = vertex{arcs: n.vertices[last].arcs[:0]}
	} else {
		n.vertices = append(n.vertices, vertex{})
	}
	n.marks = append(n.marks, mark{exit: noExit})
}

// AddVertex adds a node without arcs and supply.
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

// AddArc adds a way on which each unit costs as much; neither capacity nor cost is
// below 0. No arc starts at the Sink.
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
	n.addRoom(a, capacity)
	n.changed = append(n.changed, a)
	return a
}

// AddSupply changes how many units wait at v by more, which may be below 0. There
// are never less than none.
func (n *Network) AddSupply(v Vertex, more int64) {
	more = max(more, -n.vertices[v].supply)
	n.vertices[v].supply += more
	n.supplied += more
	n.owe(v, more)
}

// SetCapacity changes how many units an arc holds. Those that no longer fit
// wait at its start for another way.
func (n *Network) SetCapacity(a Arc, capacity int64) {
	flow := n.Flow(a)
	if back := flow - capacity; back > 0 {
		n.push(a^1, back)
		n.owe(n.from(a), back)
		n.owe(n.arcs[a].to, -back)
	}
	n.addRoom(a, capacity-n.Flow(a)-n.arcs[a].room)
	n.changed = append(n.changed, a)
}

// Remove takes away a node with its arcs and its supply. Nothing may flow
// through it: take its supply away, or set the capacity of its arcs to 0, and
// Solve before. It reports whether it could.
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

// Flow is how many units take an arc.
func (n *Network) Flow(a Arc) int64 { return n.arcs[a^1].room }

// Cost is what all units cost on their ways.
func (n *Network) Cost() (sum int64) {
	for a := 0; a < len(n.arcs); a += 2 {
		sum += n.arcs[a].cost * n.arcs[a+1].room
	}
	return sum
}

func (n *Network) from(a Arc) Vertex { return n.arcs[a^1].to }

// owe changes the balance of v; the Sink takes and gives whatever comes.
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

// push moves units along an arc that has room for them.
func (n *Network) push(a Arc, units int64) {
	n.addRoom(a, -units)
	n.addRoom(a^1, units)
}

// addRoom keeps the arcs with room before those without.
func (n *Network) addRoom(a Arc, units int64) {
	had := n.arcs[a].room > 0
	n.arcs[a].room += units
	if has := n.arcs[a].room > 0; has == had {
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

// findExit notes the cheapest arc from v to the Sink that has room.
func (n *Network) findExit(v Vertex) {
	exit := noExit
	for _, a := range n.vertices[v].arcs[:n.vertices[v].open] {
		if n.arcs[a].to == Sink && (exit == noExit || n.arcs[a].cost < n.arcs[exit].cost) {
			exit = a
		}
	}
	n.marks[v].exit = exit
}

func (n *Network) swap(v *vertex, i, j int) {
	a, b := v.arcs[i], v.arcs[j]
	v.arcs[i], v.arcs[j] = b, a
	n.arcs[a].at, n.arcs[b].at = int32(j), int32(i)
}

// attach enters an arc that has no room yet.
func (n *Network) attach(v Vertex, a Arc) {
	n.arcs[a].at = int32(len(n.vertices[v].arcs))
	n.vertices[v].arcs = append(n.vertices[v].arcs, a)
}

func (n *Network) detach(v Vertex, a Arc) {
	n.addRoom(a, -n.arcs[a].room)
	node := &n.vertices[v]
	last := len(node.arcs) - 1
	n.swap(node, int(n.arcs[a].at), last)
	node.arcs = node.arcs[:last]
}
