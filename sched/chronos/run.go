package chronos

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

const (
	freshChecks     = 50 // how often running attempts are checked for fresh reports during Config.Wait
	slowCheckFactor = 20 // after Config.Wait, how many times Config.Wait the less frequent checks last
)

// run adds the tasks to be recovered to a plan. It uses slots in this order: slots promised
// earlier, slots that the wrapped policy gave near the input, slots of the plan near the
// input by exchange, any slot of the plan, and finally preemption. Slots are exchanged
// within the plan first, since that costs no work.
func (r *recovery) run(plan *sched.Plan) {
	d, h := r.newSlotPlan(plan), r.victimSearch(plan)
	r.keepPromises(d)
	for _, t := range r.tasks {
		if t.own != nil && t.grant == nil && t.promise == nil && t.hasInputOn(t.own.machine) {
			d.keep(t)
		}
	}
	for _, t := range r.open() {
		d.swap(t, d.localSlots(t))
	}
	// The tasks that are left have no slot near their input.
	for _, t := range r.open() {
		h.look(t)
		if t.own != nil && !r.waits(t) {
			d.keep(t)
		}
	}
	// Tasks with a promise, or waiting for reports, leave their slots to others.
	for _, t := range r.tasks {
		if t.grant == nil && t.own != nil {
			d.vacate(t.own)
		}
	}
	for _, t := range r.open() {
		if !r.waits(t) && !d.swap(t, d.grants) {
			r.preempt(h, plan, t)
		}
	}
	d.write(plan)
	r.report()
}

// open returns the tasks that have no slot and no promise yet.
func (r *recovery) open() (open []*task) {
	for _, t := range r.tasks {
		if t.grant == nil && t.promise == nil {
			open = append(open, t)
		}
	}
	return open
}

// keepPromises gives tasks the slots that were freed for them.
func (r *recovery) keepPromises(d *slotPlan) {
	for _, t := range r.tasks {
		if t.promise != nil && !d.claim(t, t.promise.machine) {
			r.wakeAt(t.promise.until)
		}
	}
}

// waits reports whether a task declines slots far from its input, because attempts near
// its input that it can preempt may report yet.
func (r *recovery) waits(t *task) bool {
	return t.stale && !t.hadPromise && t.inputMachines != nil && r.now < t.lostAt+r.policy.conf.Wait
}

// preempt frees a slot for a task, unless it has had a promise or should wait for fresh
// reports: old ones could choose an attempt that is almost done (section 3.2, remark 2).
func (r *recovery) preempt(h *victimSearch, plan *sched.Plan, t *task) {
	if t.hadPromise {
		return
	}
	wait := r.policy.conf.Wait
	if t.stale && r.now < t.lostAt+wait {
		return
	}
	taken, again := h.choose(t)
	switch {
	case again:
		r.wakeAt(r.now + r.soon()) // try again in case the preemption is refused
	case taken.Attempt != (cluster.AttemptID{}):
		_, _, a, _ := r.view.Attempt(taken.Attempt)
		t.requested = &promise{loss: t.loss.ID, machine: a.Machine, victim: a.ID, mode: taken.Mode}
		r.policy.requested[a.ID] = t.requested
		plan.Preempts = append(plan.Preempts, taken)
	}
}

// soon returns the time to wait before the next look at running attempts, in ms.
func (r *recovery) soon() int64 { return max(r.policy.conf.Wait/freshChecks, 1) }

// wakeAt notes a time at which to look again.
func (r *recovery) wakeAt(at int64) { r.wake = sched.Earliest(r.wake, at) }

// report notes what tasks without a slot wait for, and when to look at them again.
// Explain shows it.
func (r *recovery) report() {
	wait := r.policy.conf.Wait
	for _, t := range r.tasks {
		if t.grant != nil {
			continue
		}
		text := "waits for a free slot"
		switch since := r.now - t.lostAt; {
		case t.promise != nil:
			text = t.promise.String()
		case t.requested != nil:
			text = t.requested.String()
		case !t.stale || t.hadPromise:
		case since < wait:
			text = "waits for fresh heartbeats"
			r.wakeAt(min(t.lostAt+wait, r.now+r.soon()))
		case since < slowCheckFactor*wait:
			text = "waits for a free slot, or for heartbeats that are late"
			r.wakeAt(r.now + wait)
		}
		r.policy.status[t.ID] = text
	}
}

// String describes the promise.
func (p *promise) String() string {
	verb := map[preempt.Mode]string{preempt.Split: "splitting", preempt.Checkpoint: "checkpointing", preempt.Suspend: "suspending", preempt.Kill: "killing"}[p.mode]
	if verb == "" {
		verb = "ending"
	}
	return fmt.Sprintf("slot on %s by %s %v", p.machine, verb, p.victim)
}
