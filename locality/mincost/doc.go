// Package mincost sends units through a network to a sink at the least cost.
//
// A Network has nodes, arcs with a capacity and a cost per unit, and supplies:
// units that wait at a node for a way to the Sink. Solve routes them:
//
//	n := mincost.New()
//	slot := n.Node()
//	n.Arc(slot, mincost.Sink, 2, 0)  // two units may end here
//	task := n.Node()
//	n.Arc(task, slot, 1, 7)
//	n.Supply(task, 1)
//	unrouted := n.Solve()
//
// As many units as possible are routed, and there is no cheaper way to route
// those. Which units stay where not all can go is arbitrary: where it matters,
// each gets a dear arc of its own to the Sink.
//
// The network may change between calls of Solve: nodes, arcs and supply come
// and go, capacities change. Solve then repairs what it has instead of starting
// anew: a unit added costs one search for a path, and so does a unit or a slot
// taken away.
//
// The method is successive shortest paths with potentials (Edmonds and Karp,
// "Theoretical improvements in algorithmic efficiency for network flow
// problems", J. ACM 19, 1972, section 2): every arc that has room left has a
// reduced cost, its cost plus the potential of its start minus that of its end,
// that is not negative, which is what makes the flow optimal. A search takes to
// the heap only when there are no more arcs of reduced cost 0 to follow, looks
// one step ahead for the Sink, tries first where earlier searches ended, and ends
// as soon as it knows its distance. On
// networks of tasks and machines almost every search ends before it needs the
// heap.
//
// The same calls in the same order give the same flow. Costs and capacities are
// integers; the caller sees to it that the cost of all units along their
// dearest paths fits an int64.
//
// A Network is used by one goroutine and starts none.
package mincost
