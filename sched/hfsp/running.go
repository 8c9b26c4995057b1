package hfsp

import (
	"cmp"
	"math"

	"github.com/hammr/hammr/internal/kit/minheap"
)

// running computes the times at which phases finish on a virtual cluster. Phases without a
// slot for each of their tasks get level slots per unit of weight. Lag is the slot time that
// a unit of weight has received since the start, so such a phase is done when lag reaches
// left/weight. The other phases are capped and finish at a time known in advance.
type running struct {
	slots, now float64 // slots of the cluster; present time in ms
	level, lag float64 // slots for a unit of weight; slot-ms that such a unit has received since the start
	weight     float64 // sum over unfinished phases that are not capped
	taken      float64 // slots of unfinished capped phases

	byLag  []*member             // unfinished phases by lag; capped ones are skipped
	byMost []*member             // phases by cap; all phases before the first are capped
	capped minheap.Heap[*member] // the first to finish on top
}

// run works until a time and calls finish for each phase that is done by then, in order. If
// until is infinite, it does not change the remaining work of the other phases.
func (r *running) run(until float64, finish func(s *member, at float64)) {
	for {
		r.rise()
		s, at := r.next()
		if s == nil || at > until {
			break
		}
		r.pass(at)
		s.left = 0
		finish(s, at)
		if s.capped {
			r.capped.Pop()
			r.taken -= s.most
		} else {
			s.capped = true // so that both lists skip it
			r.weight -= s.weight
			r.byLag = r.byLag[1:]
		}
	}
	if !math.IsInf(until, 1) {
		r.stop(until)
	}
}

// rise computes the level, and caps the phases that have a slot for each task at that
// level.
func (r *running) rise() {
	for ; ; r.byMost = r.byMost[1:] {
		for len(r.byMost) > 0 && r.byMost[0].capped {
			r.byMost = r.byMost[1:]
		}
		if len(r.byMost) == 0 {
			r.level, r.weight = 0, 0
			return
		}
		r.level = max(r.slots-r.taken, 0) / r.weight
		s := r.byMost[0]
		if s.cap > r.level {
			return
		}
		s.capped = true
		s.left -= s.weight * r.lag
		r.weight -= s.weight
		r.taken += s.most
		s.end = r.now + max(s.left, 0)/s.most
		r.capped.Push(s)
	}
}

// next returns the phase that finishes first, and the time; nil if none ever finishes.
func (r *running) next() (first *member, at float64) {
	for len(r.byLag) > 0 && r.byLag[0].capped {
		r.byLag = r.byLag[1:]
	}
	if len(r.byLag) > 0 && r.level > 0 {
		first = r.byLag[0]
		at = r.now + max(first.lag-r.lag, 0)/r.level
	}
	if len(r.capped) > 0 && (first == nil || r.capped[0].end <= at) {
		first, at = r.capped[0], r.capped[0].end
	}
	return first, at
}

// pass advances time to a moment before which no phase finishes.
func (r *running) pass(at float64) {
	r.lag += r.level * (at - r.now)
	r.now = at
}

// stop computes what is left of the unfinished phases.
func (r *running) stop(at float64) {
	r.pass(at)
	for _, s := range r.byLag {
		if !s.capped {
			s.left = max(s.left-s.weight*r.lag, 0)
		}
	}
	for _, s := range r.capped {
		s.left = max(s.end-at, 0) * s.most
	}
}

// Before orders capped phases by when they finish.
func (s *member) Before(other *member) bool {
	return cmp.Or(cmp.Compare(s.end, other.end), s.id.compare(other.id)) < 0
}
