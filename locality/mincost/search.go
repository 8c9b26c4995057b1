package mincost

// search looks for shortest paths by reduced cost. What it holds is kept
// between searches to be used again.
type search struct {
	labels  []label // by Node
	round   uint32  // of the search under way
	settled []Node  // whose distance is final, in that order
	stack   []Node  // labelled with the distance at hand
	heap    []entry // labelled with a greater one
}

// label is what a search knows of a node.
type label struct {
	round    uint32 // in which it was set; of an older one nothing holds
	final    bool
	distance int64
	via      Arc // on which the search came here
}

type entry struct {
	distance int64
	node     Node
}

// forward finds the nearest node from v that wants units: the Sink, or one that
// misses some.
func (s *search) forward(n *Network, v Node) (end Node, ok bool) {
	s.begin(n, v)
	for {
		w, d, more := s.next()
		if !more {
			return 0, false
		}
		if s.wants(n, w) {
			s.shift(n, d, -1)
			return w, true
		}
		if end, ok := s.relaxOut(n, w, d); ok {
			s.shift(n, d, -1)
			return end, true
		}
	}
}

func (s *search) wants(n *Network, v Node) bool { return v == Sink || n.nodes[v].balance < 0 }

// relaxOut labels where the arcs from v lead. It ends early when one leads to
// where units are wanted and costs nothing.
func (s *search) relaxOut(n *Network, v Node, d int64) (end Node, ok bool) {
	from := &n.nodes[v]
	for _, a := range from.arcs[:from.open] {
		w := n.arcs[a].to
		length := n.arcs[a].cost + from.potential - n.nodes[w].potential
		if s.label(w, d+length, a, length == 0) && length == 0 && s.wants(n, w) {
			return w, true
		}
	}
	return 0, false
}

// backward finds the shortest path from the Sink to v.
func (s *search) backward(n *Network, v Node) bool {
	s.begin(n, v)
	for {
		w, d, more := s.next()
		if !more {
			return false
		}
		if w == Sink || s.relaxIn(n, w, d) {
			s.shift(n, d, 1)
			return true
		}
	}
}

// relaxIn labels where the arcs to v come from. It ends early when one comes
// from the Sink and costs nothing.
func (s *search) relaxIn(n *Network, v Node, d int64) bool {
	to := &n.nodes[v]
	for _, b := range to.arcs {
		a := b ^ 1
		if n.arcs[a].room <= 0 {
			continue
		}
		w := n.arcs[b].to
		length := n.arcs[a].cost + n.nodes[w].potential - to.potential
		if s.label(w, d+length, a, length == 0) && length == 0 && w == Sink {
			return true
		}
	}
	return false
}

func (s *search) begin(n *Network, v Node) {
	if more := len(n.nodes) - len(s.labels); more > 0 {
		s.labels = append(s.labels, make([]label, more)...)
	}
	s.round++
	if s.round == 0 {
		clear(s.labels)
		s.round = 1
	}
	s.settled, s.stack, s.heap = s.settled[:0], append(s.stack[:0], v), s.heap[:0]
	s.labels[v] = label{round: s.round}
}

// label notes a way to w and reports whether it is the shortest so far. One
// that is as near as the node at hand goes on the stack.
func (s *search) label(w Node, distance int64, via Arc, near bool) bool {
	l := &s.labels[w]
	if l.round == s.round && l.distance <= distance {
		return false
	}
	*l = label{round: s.round, distance: distance, via: via}
	if near {
		s.stack = append(s.stack, w)
	} else {
		s.pushHeap(entry{distance, w})
	}
	return true
}

// next is the nearest node not seen so far, and its distance.
func (s *search) next() (v Node, distance int64, ok bool) {
	for {
		if last := len(s.stack) - 1; last >= 0 {
			v, s.stack = s.stack[last], s.stack[:last]
		} else if len(s.heap) > 0 {
			v = s.popHeap().node
		} else {
			return 0, 0, false
		}
		if l := &s.labels[v]; !l.final {
			l.final = true
			s.settled = append(s.settled, v)
			return v, l.distance, true
		}
	}
}

// shift makes the arcs of the shortest path cost nothing, and no arc with room
// less than that. Sign tells whether potentials fall or rise.
func (s *search) shift(n *Network, distance, sign int64) {
	for _, v := range s.settled {
		n.nodes[v].potential += sign * (distance - s.labels[v].distance)
	}
}

func (s *search) pushHeap(e entry) {
	s.heap = append(s.heap, e)
	i := len(s.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if s.heap[up].distance <= e.distance {
			break
		}
		s.heap[i] = s.heap[up]
		i = up
	}
	s.heap[i] = e
}

func (s *search) popHeap() entry {
	top, last := s.heap[0], len(s.heap)-1
	e := s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; last > 0; {
		least := i
		bound := e.distance
		for child := 4*i + 1; child <= 4*i+4 && child < last; child++ {
			if s.heap[child].distance < bound {
				least, bound = child, s.heap[child].distance
			}
		}
		if least == i {
			s.heap[i] = e
			break
		}
		s.heap[i] = s.heap[least]
		i = least
	}
	return top
}
