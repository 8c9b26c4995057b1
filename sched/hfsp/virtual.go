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
//	         C comes  B done C done     in order.
//
// Nothing is computed while nothing changes: members' done holds until a phase comes or
// goes, or its size or weight, or the slots are others. Then work is written down as
// of that moment, and the lists, which hardly change their order, are mended.
type virtual struct {
	slots   float64
	clock   float64   // ms; what members have got is as of then
	members []*member // of which something is left at clock, by phaseID
	stale   bool      // members' done is to be found again

	byLag, byMost []*member // members as running wants them, in the order of the last run, new ones last
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
	lag    float64 // left for each unit of weight at its beginning
	cap    float64 // most for each unit of weight
	end    float64 // when it is done, if it is capped
}

func (s *member) remaining() float64 { return max(s.size-s.aged, 0) }

// put enters a phase, or one that is there already with something left again.
func (v *virtual) put(s *member) {
	i, there := slices.BinarySearchFunc(v.members, s.id, func(m *member, id phaseID) int { return m.id.compare(id) })
	if !there {
		v.members = slices.Insert(v.members, i, s)
		v.byLag, v.byMost = append(v.byLag, s), append(v.byMost, s)
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
	v.drop(func(m *member) bool { return m == s })
	v.stale = true
}

func (v *virtual) drop(gone func(*member) bool) {
	for _, list := range []*[]*member{&v.members, &v.byLag, &v.byMost} {
		*list = slices.DeleteFunc(*list, gone)
	}
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
	v.drop(func(s *member) bool { return s.remaining() == 0 })
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
		s.lag, s.cap = s.left/s.weight, s.most/s.weight
		r.weight += s.weight
	}
	mend(v.byLag, func(a, b *member) int { return cmp.Or(cmp.Compare(a.lag, b.lag), a.id.compare(b.id)) })
	mend(v.byMost, func(a, b *member) int { return cmp.Or(cmp.Compare(a.cap, b.cap), a.id.compare(b.id)) })
	r.byLag, r.byMost = v.byLag, v.byMost
	r.run(until, finish)
}

// mend sorts what is nearly in order: it costs n, and as much for each that is not
// where it belongs.
func mend[E any](list []E, compare func(a, b E) int) {
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
