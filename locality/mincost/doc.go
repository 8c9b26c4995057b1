// Package mincost routes units through a network to a sink at the lowest cost.
//
// A Network has vertices, arcs with a capacity and a cost per unit, and supplies: units at a
// vertex that are to be routed to the Sink. Solve routes them:
//
//	n := mincost.New()
//	slot := n.AddVertex()
//	n.AddArc(slot, mincost.Sink, 2, 0)  // two units may end here
//	task := n.AddVertex()
//	n.AddArc(task, slot, 1, 7)
//	n.AddSupply(task, 1)
//	unrouted := n.Solve()
//
// Solve routes as many units as possible, at the lowest cost for that number. If not all can
// be routed, the choice among them is arbitrary; a caller that cares gives each unit an
// expensive arc of its own to the Sink.
//
// The network may change between calls of Solve: vertices, arcs and supplies are added and
// removed, capacities change. Solve repairs the existing flow instead of starting over:
// adding a unit costs one search for a path, and so does removing a unit or a slot.
//
// The method is successive shortest paths with potentials (Edmonds and Karp, "Theoretical
// improvements in algorithmic efficiency for network flow problems", J. ACM 19, 1972,
// section 2). The reduced cost of an arc is its cost plus the potential of its start minus
// the potential of its end. The flow is optimal if no arc with residual capacity has a
// negative reduced cost. A search uses the heap only if no more arcs of reduced cost 0 can
// be followed. It looks one step ahead for the Sink, first tries the vertices where recent
// searches ended, and stops as soon as its distance is known. On networks of tasks and
// machines almost every search ends before it needs the heap.
//
// The same calls in the same order produce the same flow. Costs and capacities are integers.
// The caller ensures that the cost of all units along their most expensive paths fits into
// an int64.
//
// A Network is used by one goroutine and starts none.
package mincost
