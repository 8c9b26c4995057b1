package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// promise is a slot that is being freed for a task, and stays its own until the
// task starts there. When it has come to nothing it is kept, so that the task does
// not get another one.
type promise struct {
	loss    cluster.AttemptID // that it makes up for
	machine string
	victim  cluster.AttemptID // that is to leave the slot
	how     preempt.Mode      // "" when that is not known any more
	until   int64             // ms since the epoch
}

// holds reports whether the slot may still come.
func (p *promise) holds(now int64, view sched.View) bool {
	m := view.Machine(p.machine)
	return now < p.until && m != nil && !m.Lost && !m.Excluded
}

// confirm makes a promise of what the latest plan said about an attempt, now that
// the attempt is told to leave its slot or has left it.
func (p *Policy) confirm(now int64, view sched.View, id cluster.AttemptID) {
	promise := p.asked[id]
	if promise == nil {
		return
	}
	_, _, a, ok := view.Attempt(id)
	if ok && a.State == cluster.AttemptRunning {
		return // it was told something else
	}
	delete(p.asked, id)
	promise.until = now + p.conf.Reserve
	p.promises[promise.loss] = promise
}

// breakPromises forgets those of slots that are lost themselves. Their tasks may be
// promised others, as if they had been lost again.
func (p *Policy) breakPromises(now int64, view sched.View) {
	for loss, promise := range p.promises {
		if m := view.Machine(promise.machine); now < promise.until && (m == nil || m.Lost) {
			delete(p.promises, loss)
		}
	}
}

// infer promises slots that attempts have been told to leave, as far as they may
// have been told so for tasks that are to be recovered. It finds as many of these as
// have been promised one, or the others would preempt too many attempts more.
func (p *Policy) infer(now int64, view sched.View) {
	r := p.recovery(now, view)
	if len(r.tasks) == 0 {
		return
	}
	m := matching{taken: make(map[cluster.AttemptID]int)}
	leaving := r.leaving()
	for _, t := range r.tasks {
		var home, far []*candidate
		for _, c := range leaving {
			switch {
			case c.attempt.Slot != t.kind() || slices.Contains(t.avoid, c.attempt.Machine) || !r.mayInherit(t, c):
			case t.isHome(c.attempt.Machine):
				home = append(home, c)
			default:
				far = append(far, c)
			}
		}
		m.may = append(m.may, append(home, far...))
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

// mayInherit reports whether a task may have the slot of an attempt that leaves it.
// Whose claim is better may have changed when the attempt was told to.
func (r *recovery) mayInherit(t *task, c *candidate) bool {
	if c.job == t.job {
		return r.policy.conf.SameJob
	}
	return !r.precedes(t.kind(), c.job, t.job)
}

// leaving are the attempts that are told to leave their slots.
func (r *recovery) leaving() (leaving []*candidate) {
	for m := range r.view.Machines() {
		for _, a := range m.Attempts {
			if !a.HoldsSlot() || a.Active() && !a.Preempting() {
				continue
			}
			if j, stage, _, ok := r.view.Task(a.ID.Task); ok && stage.StartsAlone() {
				leaving = append(leaving, &candidate{attempt: a, job: j})
			}
		}
	}
	return leaving
}

// matching gives as many tasks as possible a slot of those that they may have. A
// task that has one keeps one.
type matching struct {
	may   [][]*candidate
	taken map[cluster.AttemptID]int // by whom
}

// match finds a slot for a task, which others may have to change theirs for.
func (m *matching) match(task int, tried map[cluster.AttemptID]bool) bool {
	return slices.ContainsFunc(m.may[task], func(c *candidate) bool {
		id := c.attempt.ID
		if tried[id] {
			return false
		}
		tried[id] = true
		holder, held := m.taken[id]
		if held && !m.match(holder, tried) {
			return false
		}
		m.taken[id] = task
		return true
	})
}
