package mincost

import "math"

// search finds shortest paths by reduced cost. Its memory is reused between searches.
type search struct {
	round     uint32   // number of the current search, even
	shortages bool     // some vertices have a negative balance
	limit     int64    // paths of this length or longer do not matter
	settled   []Vertex // vertices whose distance is final, in that order
	near      []Vertex // vertices at the current distance, in order
	seen      int      // how many of near are settled
	recent    []Vertex // vertices of near at which recent paths ended; they come first
	heap      []entry  // vertices at greater distances
}

// mark is the state of a vertex in searches, in one struct so that the inner loop touches
// little memory.
type mark struct {
	potential int64
	distance  int64
	round     uint32 // search in which distance and via were set, plus 1 if they are final; otherwise they are stale
	via       Arc    // arc by which the search reached the vertex
	exit      Arc    // cheapest arc to the Sink with residual capacity; noExit for none
	recent    uint32 // latest search whose path ended at this vertex or shortly after it
}

const noExit Arc = -1

// entry is a vertex in the heap. The entry is stale if the vertex has got a shorter distance
// since.
type entry struct {
	distance int64
	node     Vertex
}

// forward finds the nearest vertex from v that accepts units: the Sink, or a vertex with a
// negative balance.
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

// wants reports whether a vertex accepts units: the Sink always does.
func (s *search) wants(n *Network, v Vertex) bool {
	return v == Sink || s.shortages && n.vertices[v].balance < 0
}

// relaxOut labels the ends of the arcs from v. It returns early if an arc at no cost ends at
// a vertex that accepts units.
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

// leaves looks one step ahead: it reports whether the Sink can be reached from w at no more
// than distance near. Without this check a search would miss nearby free slots.
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

// relaxIn labels the starts of the arcs to v. It returns early if an arc at no cost starts
// at the Sink.
func (s *search) relaxIn(n *Network, v Vertex, d int64) bool {
	base := d - n.marks[v].potential
	for _, b := range n.vertices[v].arcs {
		a := b ^ 1
		w := n.arcs[b].to
		if n.arcs[a].residual <= 0 || n.marks[w].round == s.round+1 {
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

// begin starts a search from v. Marks of earlier searches are recognized by their round. The
// round overflows after two billion searches; then all marks are cleared.
func (s *search) begin(n *Network, v Vertex) {
	s.round += 2
	if s.round == 0 {
		for i := range n.marks {
			n.marks[i].round = 0
		}
		s.round = 2
	}
	s.limit = math.MaxInt64
	s.seen, s.recent, s.settled, s.near, s.heap = 0, s.recent[:0], s.settled[:0], append(s.near[:0], v), s.heap[:0]
	n.marks[v].round, n.marks[v].distance = s.round, 0
}

// label records a path to w, found from a vertex at distance near, and reports whether it is
// the shortest so far. A path no longer than near does not need the heap.
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

// recentRounds is the number of searches for which a vertex on a recent path is preferred,
// times two. Without the preference, searches among full machines visit many vertices before
// they reach the few that lead to free slots. If the preference lasts too long, they visit
// many vertices that no longer do.
const recentRounds = 8

// pushNear queues a vertex at the current distance: first in, first out, but vertices on
// recent paths first.
func (s *search) pushNear(n *Network, v Vertex) {
	if recent := n.marks[v].recent; recent != 0 && s.round-recent <= recentRounds {
		s.recent = append(s.recent, v)
	} else {
		s.near = append(s.near, v)
	}
}

// next returns the nearest vertex that has not been visited, and its distance.
func (s *search) next(n *Network) (v Vertex, distance int64, ok bool) {
	for {
		if len(s.recent) == 0 && s.seen == len(s.near) && !s.advance(n) {
			return 0, 0, false
		}
		if last := len(s.recent) - 1; last >= 0 {
			v, s.recent = s.recent[last], s.recent[:last]
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

// advance moves to the next distance that has vertices. It takes all of them together, so
// that a short path to the Sink is not found after a long one.
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

// shift changes potentials so that the arcs of the shortest path have reduced cost 0. No arc
// with residual capacity gets a negative reduced cost. Sign is the direction of the change.
func (s *search) shift(n *Network, distance, sign int64) {
	for _, v := range s.settled {
		n.marks[v].potential += sign * (distance - n.marks[v].distance)
	}
}

// pushHeap adds an entry to the heap. Each entry has four children: the heap has fewer
// levels than with two. Children are adjacent in memory, so there are fewer cache misses.
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

// popHeap removes the entry with the smallest distance. The heap must not be empty.
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
