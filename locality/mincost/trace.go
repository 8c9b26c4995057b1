package mincost

// Trace follows the paths of single units, each unit of the flow at most once. It is valid
// until the network changes.
type Trace struct {
	network *Network
	traced  map[Arc]int64
}

// Trace returns a trace that has followed no unit yet.
func (n *Network) Trace() *Trace {
	return &Trace{network: n, traced: make(map[Arc]int64)}
}

// Last follows a unit from v to the Sink and returns the last vertex before it. It returns v
// if the unit goes there directly, or if nothing flows from v. Where paths diverge, the unit
// follows the arc that was added first.
func (t *Trace) Last(v Vertex) Vertex {
	for {
		a, ok := t.next(v)
		if !ok {
			return v
		}
		t.traced[a]++
		to := t.network.arcs[a].to
		if to == Sink {
			return v
		}
		v = to
	}
}

// next returns the first arc from v with flow that has not been traced.
func (t *Trace) next(v Vertex) (next Arc, ok bool) {
	for _, a := range t.network.vertices[v].arcs {
		if a&1 == 0 && (!ok || a < next) && t.network.Flow(a) > t.traced[a] {
			next, ok = a, true
		}
	}
	return next, ok
}
