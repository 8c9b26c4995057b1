package sched

import (
	"github.com/hammr/hammr/cluster"
)

// OfferBundles gives slots to up to so many of the bundles of a class, whole. It
// is called once for a class. Those of a class whose tasks start alone are for
// Offer.
//
// Slots that a bundle will need, and which others would take before it has all of
// them at once, are held for it. What is offered later does not get them.
func (r *Round) OfferBundles(j *cluster.Job, b *cluster.Bundle, most int) {
	if waitingOf(j, b) == 0 {
		return
	}
	r.note(j, b.Stages[0], b, most)
	r.flush()
	lifted := r.lift(b.Stages...)
	if b.Gang {
		r.offerGangs(j, b, most)
	} else {
		r.offerGroups(j, b, most)
	}
	r.layAgain(lifted)
}

// waitingOf is how many bundles of a class may start.
func waitingOf(j *cluster.Job, b *cluster.Bundle) int {
	for _, s := range b.Stages {
		if s.Alone() || s.Waiting() == 0 || !j.Ready(s) {
			return 0
		}
	}
	return b.Stages[0].Waiting() / b.TasksIn(b.Stages[0])
}

// offerGroups is for bundles of one group of several slots. They go where their
// input lies like tasks of one slot, since all take the same slots.
func (r *Round) offerGroups(j *cluster.Job, b *cluster.Bundle, most int) {
	stage := b.Stages[0]
	l := r.lane(stage.Slots, r.view.MachinesWithFree(stage.Slot), r.freeOn)
	l.hurried = r.lanes[stage.Slot].hurried
	for m := range r.view.Machines() {
		l.total += l.capacity(m)
	}
	if l.total == 0 {
		return
	}
	l.offer(j, stage, most, false)
	l.flush()
	for _, s := range l.starts {
		r.remove(s.Machine, stage.Slots)
		r.bundles = append(r.bundles, BundleStart{Job: j.ID, Class: b.Index, Number: s.Task.Number, Starts: []Start{s}})
	}
	r.wakeAt(l.wake)
	if left := min(most, stage.Waiting()) - len(l.starts); left > 0 {
		r.hold(&claim{job: j, class: b, bundles: left})
	}
}

// maxMisses bounds how many gangs of a class are tried that do not fit. They
// differ only in where their input lies and which machines they avoid.
const maxMisses = 8

// offerGangs is for bundles of several groups, each of which is placed by
// itself.
func (r *Round) offerGangs(j *cluster.Job, b *cluster.Bundle, most int) {
	var late *gang
	started, misses := 0, 0
	for _, number := range j.WaitingBundles(b) {
		if started == most || misses == maxMisses {
			break
		}
		g := r.gang(j, b, number)
		switch at, ok := r.placeGang(g); {
		case ok:
			r.startGang(g, at)
			started++
		default:
			misses++
			if late == nil && r.couldFit(g) {
				late = g
			}
		}
	}
	if left := min(most, waitingOf(j, b)) - started; late != nil && left > 0 {
		r.hold(&claim{job: j, class: b, bundles: left, avoid: late.avoid, picky: late.picky})
	}
}
