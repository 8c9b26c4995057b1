package chronos

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

const (
	looks    = 50 // how often running attempts are looked at while word of them is waited for
	patience = 20 // how many times as long they are looked at less often
)

// run works the tasks into a plan.
func (r *recovery) run(plan *sched.Plan) {
	d, h := r.deal(plan), r.hunt(plan)
	r.keepPromises(d)
	for _, t := range r.tasks {
		if t.own != nil && t.grant == nil && t.promise == nil && t.isHome(t.own.machine) {
			d.keep(t)
		}
	}
	for _, t := range r.open() {
		d.swap(t, d.atHome(t))
	}
	// What is left has no slot beside its input.
	for _, t := range r.open() {
		h.look(t)
		if t.own != nil && !r.waits(t) {
			d.keep(t)
		}
	}
	// Those that have been promised a slot, or wait for word, leave theirs to others.
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

// open are the tasks that start nowhere yet and may start anywhere.
func (r *recovery) open() (open []*task) {
	for _, t := range r.tasks {
		if t.grant == nil && t.promise == nil {
			open = append(open, t)
		}
	}
	return open
}

// keepPromises gives the slots to tasks that were freed for them.
func (r *recovery) keepPromises(d *deal) {
	for _, t := range r.tasks {
		if t.promise != nil && !d.claim(t, t.promise.machine) {
			r.wakeAt(t.promise.until)
		}
	}
}

// waits reports whether a task leaves slots far from its input alone, since word
// may come of attempts beside it that it can preempt.
func (r *recovery) waits(t *task) bool {
	return t.stale && !t.spent && t.homes != nil && r.now < t.lostAt+r.policy.conf.Wait
}

// preempt frees a slot for a task.
func (r *recovery) preempt(h *hunt, plan *sched.Plan, t *task) {
	if t.spent {
		return
	}
	wait := r.policy.conf.Wait
	if t.stale && r.now < t.lostAt+wait {
		return
	}
	taken, again := h.choose(t)
	switch {
	case again:
		r.wakeAt(r.now + r.soon()) // should what was taken from its job come to nothing
	case taken.Attempt != (cluster.AttemptID{}):
		_, _, a, _ := r.view.Attempt(taken.Attempt)
		t.asked = &promise{loss: t.loss.ID, machine: a.Machine, victim: a.ID, how: taken.Mode}
		r.policy.ask(t.asked)
		plan.Preempts = append(plan.Preempts, taken)
	}
}

// soon is after how long running attempts are looked at again, in ms.
func (r *recovery) soon() int64 { return max(r.policy.conf.Wait/looks, 1) }

func (r *recovery) wakeAt(at int64) { r.wake = sched.Earliest(r.wake, at) }

// report notes what becomes of tasks that do not start now, and when to look at them
// again.
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
		case t.asked != nil:
			text = t.asked.String()
		case !t.stale || t.spent:
		case since < wait:
			text = "waits for fresh heartbeats"
			r.wakeAt(min(t.lostAt+wait, r.now+r.soon()))
		case since < patience*wait:
			text = "waits for a free slot, or for heartbeats that are late"
			r.wakeAt(r.now + wait)
		}
		r.policy.tell(t, text)
	}
}

// String tells what is promised.
func (p *promise) String() string {
	verb := map[preempt.Mode]string{preempt.Split: "splitting", preempt.Checkpoint: "checkpointing", preempt.Suspend: "suspending", preempt.Kill: "killing"}[p.how]
	if verb == "" {
		verb = "ending"
	}
	return fmt.Sprintf("slot on %s by %s %v", p.machine, verb, p.victim)
}
