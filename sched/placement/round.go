package placement

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Round gives out the free slots at one moment. Each free slot is in one of four places:
// in an assigner, granted to an offer that is not placed yet, given to a task, or
// reserved.
type Round struct {
	placer *Placer // caches from earlier rounds
	now    int64   // ms since the epoch
	view   cluster.View

	assigners [2]*assigner // by kind of slot
	memory    memory       // of the machines, shared by all assigners
	trace     trace        // offers, if decisions are traced

	bundles      []sched.BundleStart  // planned so far
	resumes      []sched.BundleResume // planned so far
	reservations []*reservation       // reservations in effect, in the order in which they were made
	wake         int64                // when to look again even if nothing changes, ms since the epoch; 0 is never

	gangs gangMachines // machines for gangs, once a gang is offered
}

// Round starts a round over all free slots.
func (p *Placer) Round(now int64, view sched.View) *Round {
	return p.RoundWithin(now, view, view.FreeSlots)
}

// RoundWithin starts a round in which a machine gives out no more slots than free
// returns.
func (p *Placer) RoundWithin(now int64, view sched.View, free func(*cluster.Machine) cluster.Slots) *Round {
	if p.topology == nil {
		p.survey(view.View)
	}
	r := &Round{placer: p, now: now, view: view.View, memory: memory{view: view.View}, trace: trace{on: view.Trace}}
	for kind := range r.assigners {
		var one cluster.Slots
		one[kind] = 1
		r.assigners[kind] = r.newAssigner(one, view.MachinesWithFree(cluster.Slot(kind)), free)
		r.assigners[kind].total = p.slots[kind]
	}
	return r
}

// DisableLocalityWait makes tasks take any free slot of a kind instead of leaving it
// free for a task that finds its input there later. A policy calls it if several jobs
// want slots of the kind: another job would take such a slot at once, and the tasks
// would wait for ever.
func (r *Round) DisableLocalityWait(kind cluster.Slot) { r.assigners[kind].noLocalityWait = true }

// Remaining returns how many slots can still be given out, including reserved ones.
func (r *Round) Remaining() (n int) {
	for _, a := range r.assigners {
		n += a.remaining()
	}
	for _, reserved := range r.reservations {
		n += reserved.count()
	}
	return n
}

// RemainingOf returns how many slots of a kind can still be given to any task, without
// reserved ones.
func (r *Round) RemainingOf(kind cluster.Slot) int { return r.assigners[kind].remaining() }

// Usable returns how many tasks or bundles of a want free slots suffice for, as far as that depends on machines, and
// the slots that each takes: attempts that are suspended resume only on their own machines.
func (r *Round) Usable(w sched.Want) (count int, each cluster.Slots) {
	if w.Suspended != nil {
		for _, n := range r.needsByMachine(w) { // what is free of them is reserved
			each = each.Plus(r.freeOn(r.view.Machine(n.machine)).AtMost(n.slots))
		}
		return 1, each
	}
	if w.Bundle != nil || len(w.Stage.Suspended()) == 0 {
		return w.Count, w.Need
	}
	taken := make(map[string]int)
	for _, attempt := range w.Stage.Suspended() {
		m := r.view.Machine(attempt.Machine)
		if taken[m.Name] < r.freeOn(m)[w.Stage.Slot] && r.hasMemory(m, w.Job, w.Stage) {
			taken[m.Name]++
		} else {
			w.Count--
		}
	}
	return w.Count, w.Need
}

// Offer gives slots to at most the given number of tasks or bundles of a want.
//
// Tasks that start alone: suspended attempts resume first, if their machine has a slot,
// then waiting tasks start. Offer may be called again for more of them.
//
// Bundles start or resume as a whole. If slots are missing, the free ones are reserved for
// the bundle, since otherwise small tasks would take them one by one for ever. Later offers
// do not get reserved slots. Each class of bundles is offered once a round.
func (r *Round) Offer(w sched.Want, most int) {
	if w.Bundle == nil {
		r.offerTasks(w, most, false)
	} else if most > 0 {
		r.offerBundles(w, most)
	}
}

// OfferNow is like Offer, for tasks that start alone. They take the nearest free slots at
// once, whatever the placement method, and none waits for a better machine.
func (r *Round) OfferNow(w sched.Want, most int) { r.offerTasks(w, most, true) }

// Place chooses the machines for everything offered so far. Later offers get only the
// remaining slots, even if the slots taken are nearer to their input.
func (r *Round) Place() { r.flush() }

// offerTasks offers slots to tasks that start alone: to suspended attempts, then to
// waiting tasks. Reserved slots that the stage may take are released meanwhile.
func (r *Round) offerTasks(w sched.Want, most int, noWait bool) {
	if most <= 0 || w.Count == 0 {
		return
	}
	r.gangs.free = nil
	r.trace.add(w, most)
	a := r.assigners[w.Stage.Slot]
	released := r.release(w.Stage)
	most -= a.resumeSuspended(w.Job, w.Stage, most)
	switch {
	case w.Stage.Waiting() == 0 || !w.Job.Ready(w.Stage) || most == 0 || a.remaining() == 0:
	case r.isTight(w.Job, w.Stage):
		a.offerTight(w.Job, w.Stage, most, noWait)
	default:
		a.offer(w.Job, w.Stage, most, noWait)
	}
	if len(released) > 0 {
		a.flush()
		r.reapply(released)
	}
}

// Finish returns the plan, and the time at which a round may find more starts even if
// nothing changes; 0 is never.
func (r *Round) Finish() (plan sched.Plan, wake int64) {
	for _, a := range r.assigners {
		a.flush()
		plan.Starts = append(plan.Starts, a.starts...)
		plan.Resumes = append(plan.Resumes, a.resumes...)
		r.wakeAt(a.wake)
	}
	plan.Bundles, plan.BundleResumes = r.bundles, r.resumes
	plan.Deferred, plan.Decisions = r.deferred(), r.decisions(plan)
	return plan, r.wake
}

// wakeAt notes a time at which to look again; 0 is never.
func (r *Round) wakeAt(at int64) {
	r.wake = sched.Earliest(r.wake, at)
}

// flush places all tasks that have been offered slots.
func (r *Round) flush() {
	for _, a := range r.assigners {
		a.flush()
	}
}

// freeOn returns the slots that a machine has left. Nothing may wait to be placed.
func (r *Round) freeOn(m *cluster.Machine) (free cluster.Slots) {
	for kind, a := range r.assigners {
		if i, ok := a.indexOf(m.Name); ok {
			free[kind] = a.free[i]
		}
	}
	return free
}

// takeSlots takes slots of a machine; negative numbers give them back.
func (r *Round) takeSlots(machine string, slots cluster.Slots) {
	r.gangs.free = nil
	for kind, a := range r.assigners {
		if i, ok := a.indexOf(machine); ok && slots[kind] != 0 {
			a.free[i] -= slots[kind]
			a.available -= slots[kind]
		}
	}
}
