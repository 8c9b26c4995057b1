package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// promise is a slot that is being freed for a task, and is reserved for it until the
// task starts there. A void promise is kept, so that the task does not get another one.
type promise struct {
	loss    cluster.AttemptID // lost attempt that it replaces
	machine string            // machine of the victim
	victim  cluster.AttemptID // the attempt that leaves the slot
	mode    preempt.Mode      // "" if unknown, after a Reset
	until   int64             // when the reservation ends, ms since the epoch; 0 before it is confirmed
}

// isValid reports whether the slot may still come free.
func (p *promise) isValid(now int64, view sched.View) bool {
	m := view.Machine(p.machine)
	return now < p.until && m != nil && m.TakesTasks()
}

// confirm turns a preemption of the latest plan into a promise, now that the attempt
// has been ordered to leave its slot or has left it.
func (p *Policy) confirm(now int64, view sched.View, id cluster.AttemptID) {
	promise := p.requested[id]
	if promise == nil {
		return
	}
	_, _, a, ok := view.Attempt(id)
	if ok && a.State == cluster.AttemptRunning {
		return // the attempt has received another order
	}
	delete(p.requested, id)
	promise.until = now + p.conf.Reserve
	p.promises[promise.loss] = promise
}

// breakPromises drops the promises of slots that are lost themselves. Their tasks may
// get new ones, as if they had been lost again.
func (p *Policy) breakPromises(now int64, view sched.View) {
	for loss, promise := range p.promises {
		if m := view.Machine(promise.machine); now < promise.until && (m == nil || m.Lost) {
			delete(p.promises, loss)
		}
	}
}

// infer finds slots that attempts have been ordered to leave, and promises them to tasks to
// be recovered. It matches as many tasks as possible, because each unmatched task could
// preempt another attempt and exceed the bound.
func (p *Policy) infer(now int64, view sched.View) {
	r := p.recovery(now, view)
	if len(r.tasks) == 0 {
		return
	}
	m := matching{taken: make(map[cluster.AttemptID]int)}
	leaving := r.leaving()
	for _, t := range r.tasks {
		var near, far []*candidate
		for _, c := range leaving {
			switch {
			case c.attempt.Slot != t.kind() || slices.Contains(t.avoid, c.attempt.Machine) || !r.mayInherit(t, c):
			case t.hasInputOn(c.attempt.Machine):
				near = append(near, c)
			default:
				far = append(far, c)
			}
		}
		m.may = append(m.may, append(near, far...))
	}
	for i := range r.tasks {
		m.match(i, make(map[cluster.AttemptID]bool))
	}
	for id, i := range m.taken {
		loss := r.tasks[i].loss.ID
		_, _, a, _ := view.Attempt(id)
		p.promises[loss] = &promise{loss: loss, machine: a.Machine, victim: id, until: now + p.conf.Reserve}
	}
}

// mayInherit reports whether a task may have the slot of an attempt that leaves it. The
// claims of the jobs may have changed since the attempt was ordered to leave.
func (r *recovery) mayInherit(t *task, c *candidate) bool {
	if c.job == t.job {
		return r.policy.conf.SameJob
	}
	return !r.precedes(t.kind(), c.job, t.job)
}

// leaving returns the attempts that have been ordered to leave their slots.
func (r *recovery) leaving() (leaving []*candidate) {
	for m := range r.view.Machines() {
		for _, a := range m.Attempts {
			if !a.OccupiesSlot() || a.Active() && !a.Preempting() {
				continue
			}
			if j, stage, _, ok := r.view.Task(a.ID.Task); ok && stage.StartsAlone() {
				leaving = append(leaving, &candidate{attempt: a, job: j})
			}
		}
	}
	return leaving
}

// matching is a maximum bipartite matching of tasks and slots, by augmenting paths. A task
// that has a slot keeps one. There are few tasks and slots, so the simple algorithm is fast
// enough.
type matching struct {
	may   [][]*candidate            // by task: attempts whose slots it may get, the preferred ones first
	taken map[cluster.AttemptID]int // by attempt: index of the task that gets its slot
}

// match finds a slot for a task. For that, other tasks may have to change their slots.
func (m *matching) match(task int, tried map[cluster.AttemptID]bool) bool {
	return slices.ContainsFunc(m.may[task], func(c *candidate) bool {
		id := c.attempt.ID
		if tried[id] {
			return false
		}
		tried[id] = true
		other, isTaken := m.taken[id]
		if isTaken && !m.match(other, tried) {
			return false
		}
		m.taken[id] = task
		return true
	})
}
