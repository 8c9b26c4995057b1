package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// OfferBundles gives slots to up to so many of the bundles of a class, whole. It
// is called once for a class. Those of a class whose tasks start alone are for
// Offer.
//
// Slots that a bundle will need, and which others would take before it has all of
// them at once, are held for it. What is offered later does not get them.
func (r *Round) OfferBundles(j *cluster.Job, b *cluster.Bundle, most int) {
	if waitingBundles(j, b) == 0 {
		return
	}
	r.traceOffer(j, b.Stages[0], b, most)
	r.flush()
	lifted := r.release(b.Stages...)
	if b.Gang {
		r.offerGangs(j, b, most)
	} else {
		r.offerGroups(j, b, most)
	}
	r.reapply(lifted)
}

// offerSuspended has a bundle go on that stands still, if there are slots for all of it.
// Else those that there are on its machines are held, or others would take them one
// by one: unless its machines would not have enough if nothing else ran there.
func (r *Round) offerSuspended(w Want) {
	r.traceOffer(w.Job, w.Stage, w.Bundle, 1)
	r.flush()
	lifted := r.release(w.Bundle.Stages...)
	switch needs := needsByMachine(w); {
	case r.haveSlots(needs, r.freeOn):
		r.resumeBundle(w.Suspended, needs)
	case r.haveSlots(needs, capacityOf):
		r.reserveOn(needs)
	}
	r.reapply(lifted)
}

// haveSlots reports whether machines have all slots that are needed on them.
func (r *Round) haveSlots(needs []machineSlots, slots func(*cluster.Machine) locality.Slots) bool {
	return !slices.ContainsFunc(needs, func(n machineSlots) bool {
		return n.slots.Times(slots(r.view.Machine(n.machine))) == 0
	})
}

// resumeBundle takes the slots that attempts need which go on together.
func (r *Round) resumeBundle(still []*cluster.Attempt, needs []machineSlots) {
	resume := BundleResume{}
	for _, a := range still {
		resume.Attempts = append(resume.Attempts, a.ID)
	}
	for _, n := range needs {
		r.takeSlots(n.machine, n.slots)
	}
	r.resumes = append(r.resumes, resume)
}

// needsByMachine is what attempts that stand still need to go on, in the order of their
// machines' first.
func needsByMachine(w Want) (needs []machineSlots) {
	for _, a := range w.Suspended {
		i := slices.IndexFunc(needs, func(n machineSlots) bool { return n.machine == a.Machine })
		if i < 0 {
			i, needs = len(needs), append(needs, machineSlots{machine: a.Machine})
		}
		for kind, n := range stageOf(w.Bundle, a.ID.Task).Slots {
			needs[i].slots[kind] += n
		}
	}
	return needs
}

// waitingBundles is how many bundles of a class may start, but for gangs that were paused.
func waitingBundles(j *cluster.Job, b *cluster.Bundle) int {
	if b.Gang {
		return len(newGangs(j, b))
	}
	if s := b.Stages[0]; s.StartsAlone() || s.Waiting() == 0 || !j.Ready(s) {
		return 0
	}
	return b.Stages[0].Waiting()
}

// newGangs are the numbers of the gangs of a class that may begin, ascending.
func newGangs(j *cluster.Job, b *cluster.Bundle) []int {
	return slices.DeleteFunc(j.WaitingBundles(b), b.ResumesFromCheckpoint)
}

// checkpointedGangs are the numbers of the gangs of a class that may go on from checkpoints,
// ascending.
func checkpointedGangs(j *cluster.Job, b *cluster.Bundle) []int {
	if !b.Gang {
		return nil
	}
	return slices.DeleteFunc(j.WaitingBundles(b), func(number int) bool { return !b.ResumesFromCheckpoint(number) })
}

// offerGroups is for bundles of one group of several slots. They go where their
// input lies like tasks of one slot, since all take the same slots.
func (r *Round) offerGroups(j *cluster.Job, b *cluster.Bundle, most int) {
	stage := b.Stages[0]
	l := r.newAssigner(stage.Slots, r.view.MachinesWithFree(stage.Slot), r.freeOn)
	l.noLocalityWait = r.assigners[stage.Slot].noLocalityWait
	for m := range r.view.Machines() {
		l.total += l.capacity(m)
	}
	if l.total == 0 {
		return
	}
	l.offer(j, stage, most, false)
	l.flush()
	for _, s := range l.starts {
		r.takeSlots(s.Machine, stage.Slots)
		r.bundles = append(r.bundles, BundleStart{Job: j.ID, Class: b.Index, Number: s.Task.Number, Starts: []Start{s}})
	}
	r.wakeAt(l.wake)
	if left := min(most, stage.Waiting()) - len(l.starts); left > 0 {
		r.reserve(&claim{job: j, class: b, need: b.Need(), bundles: left})
	}
}

// maxMisses bounds how many gangs of a class are tried that do not fit. They
// differ only in where their input lies and which machines they avoid.
const maxMisses = 8

// offerGangs is for bundles of several groups, each of which is placed by
// itself.
func (r *Round) offerGangs(j *cluster.Job, b *cluster.Bundle, most int) {
	numbers := newGangs(j, b)
	late, started := r.startGangs(j, b, numbers, most)
	if left := min(most, len(numbers)) - started; late != nil && left > 0 {
		r.reserve(&claim{job: j, class: b, need: b.Need(), bundles: left, avoid: late.avoid, tasksAvoid: late.tasksAvoid})
	}
}

// offerCheckpointed has a gang go on that was paused, if there are slots for those of it that
// have not finished. Else they are held for it like for one that begins.
func (r *Round) offerCheckpointed(w Want) {
	r.traceOffer(w.Job, w.Stage, w.Bundle, 1)
	r.flush()
	lifted := r.release(w.Bundle.Stages...)
	number := w.Bundle.NumberOf(stageOf(w.Bundle, w.Checkpointed[0].ID), w.Checkpointed[0])
	if late, _ := r.startGangs(w.Job, w.Bundle, []int{number}, 1); late != nil {
		r.reserve(&claim{job: w.Job, class: w.Bundle, need: locality.Slots(w.Need), bundles: 1, avoid: late.avoid, tasksAvoid: late.tasksAvoid})
	}
	r.reapply(lifted)
}

// startGangs starts up to so many of the gangs that there are slots for, and tells how
// many; late is the first without, if it could start on an idle cluster.
func (r *Round) startGangs(j *cluster.Job, b *cluster.Bundle, numbers []int, most int) (late *gang, started int) {
	misses := 0
	for _, number := range numbers {
		if started == most || misses == maxMisses {
			break
		}
		g := r.newGang(j, b, number)
		switch at, ok := r.placeGang(g); {
		case ok:
			r.startGang(g, at)
			started++
		default:
			misses++
			if late == nil && r.fitsIdle(g) {
				late = g
			}
		}
	}
	return late, started
}
