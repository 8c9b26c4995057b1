package hfsp

import (
	"cmp"
	"math"
	"slices"
)

// virtual is a cluster of slots of one kind on which all phases run at once: slots
// are shared by weight, no phase has more than it has tasks, and whatever that
// leaves over goes to the others (max-min fairness). A phase stays until it is done
// here, though its job may really be done long before.
//
//	slots
//	  ▲
//	  │ B B B│B B B│                    The level at which phases hold slots by
//	  │ A A A│C C C│C C                 weight only rises while none comes, and who
//	  │ A A A│A A A│A A A A│ A A        has a slot for each task has it to the end.
//	  └──────┴─────┴───────┴─────▶ t    So what is done when follows from two lists
//	         C comes  B done C done     in order, and costs n log n for n phases.
type virtual struct {
	slots   float64
	clock   float64   // ms; what members have got is as of then
	members []*member // of which something is left at clock, by phaseID
	stale   bool      // members' done is to be found again
}

// member is what a phase has on the virtual cluster.
type member struct {
	id     phaseID
	weight float64
	most   float64 // slots that it can use at once
	size   float64 // ms of slots that it needs in all, as is believed now
	aged   float64 // that it has got; what it is believed to need may change, this stays
	done   float64 // when it has all; infinite without slots

	// While a run goes on:
	left   float64
	capped bool
}

func (s *member) remaining() float64 { return max(s.size-s.aged, 0) }

// put enters a phase, or one that is there already with something left again.
func (v *virtual) put(s *member) {
	i, there := slices.BinarySearchFunc(v.members, s.id, func(m *member, id phaseID) int { return m.id.compare(id) })
	if !there {
		v.members = slices.Insert(v.members, i, s)
	}
	v.stale = true
}

// setSlots changes how many slots there are from a time on.
func (v *virtual) setSlots(at, slots float64) {
	if slots == v.slots {
		return
	}
	v.advance(at)
	v.slots, v.stale = slots, true
}

// remove takes a phase out.
func (v *virtual) remove(s *member) {
	v.members = slices.DeleteFunc(v.members, func(m *member) bool { return m == s })
	v.stale = true
}

// resize changes what a phase is believed to need.
func (v *virtual) resize(s *member, size float64) {
	s.size = size
	if s.remaining() > 0 {
		v.put(s)
		return
	}
	v.remove(s)
	s.done = v.clock
}

// advance lets time pass; it never goes back.
func (v *virtual) advance(to float64) {
	if !(to > v.clock) {
		return
	}
	v.run(to, func(s *member, at float64) {
		s.aged, s.done = max(s.aged, s.size), at
	})
	for _, s := range v.members {
		if s.done > to {
			s.aged += s.remaining() - s.left
		}
	}
	v.members = slices.DeleteFunc(v.members, func(s *member) bool { return s.remaining() == 0 })
	v.clock, v.stale = to, true
}

// project finds out when each phase will be done if nothing changes.
func (v *virtual) project() {
	if v.stale {
		v.run(math.Inf(1), func(s *member, at float64) { s.done = at })
		v.stale = false
	}
}

// run lets the members work until a time, and tells of each that is done. It
// leaves in left what the others lack, and done infinite.
func (v *virtual) run(until float64, finish func(s *member, at float64)) {
	r := running{slots: v.slots, now: v.clock}
	for _, s := range v.members {
		s.left, s.capped, s.done = s.remaining(), false, math.Inf(1)
		r.weight += s.weight
		r.byLag = append(r.byLag, s)
	}
	r.byMost = slices.Clone(r.byLag)
	slices.SortStableFunc(r.byLag, func(a, b *member) int { return cmp.Compare(a.left/a.weight, b.left/b.weight) })
	slices.SortStableFunc(r.byMost, func(a, b *member) int { return cmp.Compare(a.most/a.weight, b.most/b.weight) })
	r.run(until, finish)
}
