package mincost

import "math"

// search looks for shortest paths by reduced cost. What it holds is kept
// between searches to be used again.
type search struct {
	round     uint32   // of the search under way, even
	shortages bool     // some nodes miss units
	limit     int64    // no path that is this long or longer is of interest
	settled   []Vertex // whose distance is final, in that order
	near      []Vertex // labelled with the distance at hand, in order
	seen      int      // how many of near are settled
	lucky     []Vertex // those of them that come first
	heap      []entry  // labelled with a greater one
}

// mark is what searches read and write of a node, side by side so that the
// inner loop touches little memory.
type mark struct {
	potential int64
	distance  int64
	round     uint32 // in which distance and via were set, plus 1 when they are final; of an older one nothing holds
	via       Arc    // on which the search came here
	exit      Arc    // the cheapest with room from here to the Sink, noExit for none
	lucky     uint32 // round of the latest search whose path ended with this node or one of the few after it
}

const noExit Arc = -1

type entry struct {
	distance int64
	node     Vertex
}

// forward finds the nearest node from v that wants units: the Sink, or one that
// misses some.
func (s *search) forward(n *Network, v Vertex) (end Vertex, ok bool) {
	s.begin(n, v)
	for {
		w, d, more := s.next(n)
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

func (s *search) wants(n *Network, v Vertex) bool {
	return v == Sink || s.shortages && n.vertices[v].balance < 0
}

// relaxOut labels where the arcs from v lead. It ends early when one leads to
// where units are wanted and costs nothing.
func (s *search) relaxOut(n *Network, v Vertex, d int64) (end Vertex, ok bool) {
	from := &n.vertices[v]
	base := d + n.marks[v].potential
	for _, a := range from.arcs[:from.open] {
		w := n.arcs[a].to
		if n.marks[w].round == s.round+1 {
			continue
		}
		distance := base + n.arcs[a].cost - n.marks[w].potential
		if !s.label(n, w, distance, a, d) {
			continue
		}
		if s.leaves(n, w, distance, d) {
			return Sink, true
		}
		if s.shortages && n.vertices[w].balance < 0 {
			if distance == d {
				return w, true
			}
			s.limit = distance
		}
	}
	return 0, false
}

// leaves looks one step ahead, on to the Sink: it reports whether that is next
// to w and no further away than near. Without it a search would pass by free
// slots.
func (s *search) leaves(n *Network, w Vertex, distance, near int64) bool {
	exit := n.marks[w].exit
	if w == Sink {
		s.limit = distance
		return distance == near
	}
	if exit == noExit {
		return false
	}
	distance += n.arcs[exit].cost + n.marks[w].potential - n.marks[Sink].potential
	if !s.label(n, Sink, distance, exit, near) {
		return false
	}
	s.limit = distance
	return distance == near
}

// backward finds the shortest path from the Sink to v.
func (s *search) backward(n *Network, v Vertex) bool {
	s.begin(n, v)
	for {
		w, d, more := s.next(n)
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
func (s *search) relaxIn(n *Network, v Vertex, d int64) bool {
	base := d - n.marks[v].potential
	for _, b := range n.vertices[v].arcs {
		a := b ^ 1
		w := n.arcs[b].to
		if n.arcs[a].room <= 0 || n.marks[w].round == s.round+1 {
			continue
		}
		distance := base + n.arcs[a].cost + n.marks[w].potential
		if !s.label(n, w, distance, a, d) || w != Sink {
			continue
		}
		if distance == d {
			return true
		}
		s.limit = distance
	}
	return false
}

func (s *search) begin(n *Network, v Vertex) {
	s.round += 2
	if s.round == 0 {
		for i := range n.marks {
			n.marks[i].round = 0
		}
		s.round = 2
	}
	s.limit = math.MaxInt64
	s.seen, s.lucky, s.settled, s.near, s.heap = 0, s.lucky[:0], s.settled[:0], append(s.near[:0], v), s.heap[:0]
	n.marks[v].round, n.marks[v].distance = s.round, 0
}

// label notes a way to w, seen from a node at distance near, and reports
// whether it is the shortest so far. One that is no longer than near needs no
// heap.
func (s *search) label(n *Network, w Vertex, distance int64, via Arc, near int64) bool {
	m := &n.marks[w]
	if distance >= s.limit || m.round == s.round && m.distance <= distance {
		return false
	}
	m.round, m.distance, m.via = s.round, distance, via
	if distance == near {
		s.pushNear(n, w)
	} else {
		s.pushHeap(entry{distance, w})
	}
	return true
}

// luckyRounds is for how many searches a node stays lucky, times two. Without
// luck, searches among full machines wander for long before they come to the
// few nodes that lead to free slots; with luck that lasts, they wander among
// those.
const luckyRounds = 8

// pushNear queues a node at the distance at hand: first come, first seen, but
// those through which the latest searches came to an end go before.
func (s *search) pushNear(n *Network, v Vertex) {
	if lucky := n.marks[v].lucky; lucky != 0 && s.round-lucky <= luckyRounds {
		s.lucky = append(s.lucky, v)
	} else {
		s.near = append(s.near, v)
	}
}

// next is the nearest node not seen so far, and its distance.
func (s *search) next(n *Network) (v Vertex, distance int64, ok bool) {
	for {
		if len(s.lucky) == 0 && s.seen == len(s.near) && !s.advance(n) {
			return 0, 0, false
		}
		if last := len(s.lucky) - 1; last >= 0 {
			v, s.lucky = s.lucky[last], s.lucky[:last]
		} else {
			v = s.near[s.seen]
			s.seen++
		}
		if m := &n.marks[v]; m.round == s.round {
			m.round++
			s.settled = append(s.settled, v)
			return v, m.distance, true
		}
	}
}

// advance goes on to the next distance at which there are nodes. They are taken
// together, so that a short way to the Sink is not found after a long one.
func (s *search) advance(n *Network) bool {
	if len(s.heap) == 0 {
		return false
	}
	s.seen, s.near = 0, s.near[:0]
	distance := s.heap[0].distance
	for len(s.heap) > 0 && s.heap[0].distance == distance {
		s.pushNear(n, s.popHeap().node)
	}
	return true
}

// shift makes the arcs of the shortest path cost nothing, and no arc with room
// less than that. Sign tells whether potentials fall or rise.
func (s *search) shift(n *Network, distance, sign int64) {
	for _, v := range s.settled {
		n.marks[v].potential += sign * (distance - n.marks[v].distance)
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
		least, bound := i, e.distance
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
