package sched

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Round gives out the free slots at one moment.
type Round struct {
	placer       *Placer
	now          int64
	view         cluster.View
	assigners    [2]*assigner   // by kind of slot
	tracedOffers []*tracedOffer // offers, in their order; nil unless they are traced
	traced       bool

	bundles      []BundleStart
	resumes      []BundleResume
	reservations []*reservation
	wake         int64

	gangMachines []locality.Machine // filled, with places, when a gang needs them
	gangs        *locality.GangPlacer
	gangSlots    []locality.MachineSlots // beside all; nil when it is to be looked at again
}

// Round looks at the free slots.
func (p *Placer) Round(now int64, view View) *Round {
	return p.RoundWithin(now, view, freeSlotsOf)
}

// RoundWithin looks at slots that are free of which a machine is to give out no
// more than free says.
func (p *Placer) RoundWithin(now int64, view View, free func(*cluster.Machine) locality.Slots) *Round {
	if p.topology == nil {
		p.survey(view.View)
	}
	r := &Round{placer: p, now: now, view: view.View, traced: view.Trace}
	for kind := range r.assigners {
		var one locality.Slots
		one[kind] = 1
		r.assigners[kind] = r.newAssigner(one, view.MachinesWithFree(cluster.Slot(kind)), free)
		r.assigners[kind].total = p.slots[kind]
	}
	return r
}

// DisableLocalityWait has no slot of a kind stay free for tasks that would find their input on
// it later: others want it too, and would take it at once, so that the tasks would
// wait for ever.
func (r *Round) DisableLocalityWait(kind cluster.Slot) { r.assigners[kind].noLocalityWait = true }

// Remaining is how many slots can still be given to somebody, held ones too.
func (r *Round) Remaining() (n int) {
	for _, l := range r.assigners {
		n += l.remaining()
	}
	for _, h := range r.reservations {
		n += h.count()
	}
	return n
}

// RemainingOf is how many slots of a kind can be given to anybody.
func (r *Round) RemainingOf(kind cluster.Slot) int { return r.assigners[kind].remaining() }

// Offer gives up to so many slots to the tasks of a stage, which start alone:
// first to those that are suspended, where their machine has one, then to those
// that wait. It may be called again for a stage, for more.
func (r *Round) Offer(j *cluster.Job, stage *cluster.Stage, most int) {
	r.offer(j, stage, most, false)
}

// OfferNow is Offer for tasks that are not to wait for a machine with their input,
// whatever the placement: they take the nearest slots that are free.
func (r *Round) OfferNow(j *cluster.Job, stage *cluster.Stage, most int) {
	r.offer(j, stage, most, true)
}

// Place finds the machines for all that has been offered slots. What is offered
// later has to do with the others, however much nearer it would be.
func (r *Round) Place() { r.flush() }

func (r *Round) offer(j *cluster.Job, stage *cluster.Stage, most int, now bool) {
	waits := stage.Waiting() > 0 && j.Ready(stage)
	if most <= 0 || !waits && len(stage.Suspended()) == 0 {
		return
	}
	r.gangSlots = nil
	r.traceOffer(j, stage, nil, most)
	l := r.assigners[stage.Slot]
	lifted := r.release(stage)
	most -= l.resumeSuspended(stage, most)
	if waits {
		l.offer(j, stage, most, now)
	}
	if len(lifted) > 0 {
		l.flush()
		r.reapply(lifted)
	}
}

// Finish is what starts, and when a round may come to more though nothing has
// changed; 0 is never.
func (r *Round) Finish() (plan Plan, wake int64) {
	for _, l := range r.assigners {
		l.flush()
		plan.Starts = append(plan.Starts, l.starts...)
		plan.Resumes = append(plan.Resumes, l.resumes...)
		r.wakeAt(l.wake)
	}
	plan.Bundles, plan.BundleResumes = r.bundles, r.resumes
	plan.Decisions = r.decisions(plan)
	return plan, r.wake
}

// noteWait notes when to look again; 0 is never.
func (r *Round) wakeAt(at int64) {
	r.wake = Earliest(r.wake, at)
}

// flush places what has been offered slots.
func (r *Round) flush() {
	for _, l := range r.assigners {
		l.flush()
	}
}

// freeOn is what is left of a machine's slots when nothing waits to be placed.
func (r *Round) freeOn(m *cluster.Machine) (free locality.Slots) {
	for kind, l := range r.assigners {
		if i, ok := l.indexOf(m.Name); ok {
			free[kind] = l.free[i]
		}
	}
	return free
}

// takeSlots takes slots of a machine.
func (r *Round) takeSlots(machine string, slots locality.Slots) {
	r.gangSlots = nil
	for kind, l := range r.assigners {
		if i, ok := l.indexOf(machine); ok && slots[kind] != 0 {
			l.free[i] -= slots[kind]
			l.available -= slots[kind]
		}
	}
}

// freeSlotsOf is the slots of a machine that can be given out.
func freeSlotsOf(m *cluster.Machine) (free locality.Slots) {
	for kind := range free {
		free[kind] = max(m.Free(cluster.Slot(kind)), 0)
	}
	return free
}
