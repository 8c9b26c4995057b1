package hfsp

import (
	"cmp"
	"math"
	"slices"
)

// virtual is a cluster of slots of one kind on which all phases run at once. Slots are
// shared by weight. No phase gets more slots than it has tasks; the remaining slots go to
// the others (max-min fairness). A phase stays until it is done on the virtual cluster, even
// if its job ends long before.
//
//	slots
//	 ▲
//	 │ B B B│B B B│                    The level at which phases get slots by
//	 │ A A A│C C C│C C                 weight only rises while none arrives, and a
//	 │ A A A│A A A│A A A A│ A A        phase with a slot for each task keeps that.
//	 └──────┴─────┴───────┴─────▶ t    So the times of completion follow from two
//	        C comes  B done C done     sorted lists.
//
// Nothing is computed while nothing changes: done stays valid until a phase arrives or
// leaves, its size or weight changes, or the number of slots changes. Then the work of
// all phases is brought up to date, and the lists, whose order hardly changes, are
// repaired.
type virtual struct {
	slots   float64
	clock   float64   // ms; time up to which aged of all members is computed
	members []*member // phases with work left at clock, by phaseID
	stale   bool      // done of all members must be computed again

	byLag, byMost []*member // members in the order of the last run, new ones last
}

// member is a phase on the virtual cluster.
type member struct {
	id     phaseID
	weight float64
	most   float64 // slots that it can use at once
	size   float64 // slot-ms that it needs in total, as estimated now
	aged   float64 // slot-ms that it has received; stays when size changes
	done   float64 // when it finishes; infinite without slots

	// Only during a run:
	left   float64
	capped bool
	lag    float64 // left per unit of weight at its start
	cap    float64 // most per unit of weight
	end    float64 // when it is done, if it is capped
}

// remaining returns the work that is left, in slot-ms. It is also 0 if the phase has
// received more than its size.
func (s *member) remaining() float64 { return max(s.size-s.aged, 0) }

// put enters a phase. It may be a member already that has work left again.
func (v *virtual) put(s *member) {
	i, there := slices.BinarySearchFunc(v.members, s.id, func(m *member, id phaseID) int { return m.id.compare(id) })
	if !there {
		v.members = slices.Insert(v.members, i, s)
		v.byLag, v.byMost = append(v.byLag, s), append(v.byMost, s)
	}
	v.stale = true
}

// setSlots changes the number of slots from a time on.
func (v *virtual) setSlots(at, slots float64) {
	if slots == v.slots {
		return
	}
	v.advance(at)
	v.slots, v.stale = slots, true
}

// remove takes a phase out.
func (v *virtual) remove(s *member) {
	v.drop(func(m *member) bool { return m == s })
	v.stale = true
}

// drop removes members from all lists.
func (v *virtual) drop(isGone func(*member) bool) {
	for _, list := range []*[]*member{&v.members, &v.byLag, &v.byMost} {
		*list = slices.DeleteFunc(*list, isGone)
	}
}

// resize changes the estimated size of a phase.
func (v *virtual) resize(s *member, size float64) {
	s.size = size
	if s.remaining() > 0 {
		v.put(s)
		return
	}
	v.remove(s)
	s.done = v.clock
}

// advance moves the clock; it never goes back.
func (v *virtual) advance(to float64) {
	if !(to > v.clock) {
		return
	}
	v.run(to, func(s *member, at float64) {
		s.aged, s.done = max(s.aged, s.size), at
	})
	for _, s := range v.members {
		if s.done > to {
			if s.aged += s.remaining() - s.left; s.remaining() == 0 { // the work that is left is less than the precision
				s.done = to
			}
		}
	}
	v.drop(func(s *member) bool { return s.remaining() == 0 })
	v.clock, v.stale = to, true
}

// computeDone computes when each phase finishes if nothing changes.
func (v *virtual) computeDone() {
	if v.stale {
		v.run(math.Inf(1), func(s *member, at float64) { s.done = at })
		v.stale = false
	}
}

// run lets the members work until a time, and calls finish for each that is done. For each
// other member it sets left to the remaining work, and done to infinity.
func (v *virtual) run(until float64, finish func(s *member, at float64)) {
	r := running{slots: v.slots, now: v.clock}
	for _, s := range v.members {
		s.left, s.capped, s.done = s.remaining(), false, math.Inf(1)
		s.lag, s.cap = s.left/s.weight, s.most/s.weight
		r.weight += s.weight
	}
	insertionSort(v.byLag, func(a, b *member) int { return cmp.Or(cmp.Compare(a.lag, b.lag), a.id.compare(b.id)) })
	insertionSort(v.byMost, func(a, b *member) int { return cmp.Or(cmp.Compare(a.cap, b.cap), a.id.compare(b.id)) })
	r.byLag, r.byMost = v.byLag, v.byMost
	r.run(until, finish)
}

// insertionSort sorts a list that is nearly in order. It takes n steps, plus up to n for
// each element out of place.
func insertionSort[E any](list []E, compare func(a, b E) int) {
	for i := 1; i < len(list); i++ {
		e := list[i]
		if compare(list[i-1], e) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(list[:i], e, compare)
		copy(list[at+1:i+1], list[at:i])
		list[at] = e
	}
}
