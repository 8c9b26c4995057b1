package fair

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// entry is a job that is not over, or of which attempts still hold slots.
type entry struct {
	id          cluster.JobID
	queue       *queue
	user        string
	priority    int
	submittedAt int64

	active   bool // it is not over
	admitted bool // it is active and within the limits of running jobs

	attempts         map[cluster.AttemptID]hold // that hold slots
	running, leaving slots                      // of attempts
	counted          tally                      // in queue
}

// hold is what an attempt holds.
type hold struct {
	slots   slots
	leaving bool
}

// compare is the order of jobs in line: priority, then age.
func (e *entry) compare(other *entry) int {
	return cmp.Or(
		-cmp.Compare(e.priority, other.priority),
		cmp.Compare(e.submittedAt, other.submittedAt),
		e.id.Compare(other.id),
	)
}

// isActive reports whether tasks of a job may start, now or later.
func isActive(j *cluster.Job) bool { return j != nil && j.State < cluster.JobCommitting }

// place puts a job where its pool and priority say, or away when it is over and
// nothing of it holds a slot.
func (p *Policy) place(view cluster.View, id cluster.JobID) *entry {
	j, e := view.Job(id), p.jobs[id]
	switch {
	case e != nil:
		p.remove(e)
	case j == nil || !isActive(j) && j.Occupied == 0:
		return nil
	default:
		e = &entry{id: id, attempts: make(map[cluster.AttemptID]hold)}
	}
	e.active = isActive(j)
	e.admitted = e.admitted && e.active
	if j == nil || !e.active && j.Occupied == 0 {
		delete(p.jobs, id)
		p.tree.prune(e.queue)
		return nil
	}
	before := e.queue
	e.queue, e.user, e.priority, e.submittedAt = p.tree.queue(j.Spec.Pool), j.Spec.User, j.Spec.Priority, j.SubmittedAt
	if before != nil && before != e.queue {
		p.tree.prune(before)
	}
	p.jobs[id] = e
	insert(&e.queue.jobs, e)
	if e.active {
		insert(&p.line, e)
	}
	e.queue.change(e.counted)
	return e
}

// remove takes a job from its queue. It keeps what it is known to hold.
func (p *Policy) remove(e *entry) {
	e.queue.change(tally{}.minus(e.counted))
	remove(&e.queue.jobs, e)
	if e.active {
		remove(&p.line, e)
	}
}

func insert(list *[]*entry, e *entry) {
	i, _ := slices.BinarySearchFunc(*list, e, (*entry).compare)
	*list = slices.Insert(*list, i, e)
}

func remove(list *[]*entry, e *entry) {
	i, _ := slices.BinarySearchFunc(*list, e, (*entry).compare)
	*list = slices.Delete(*list, i, i+1)
}

// hear notes what has become of an attempt.
func (p *Policy) hear(view cluster.View, id cluster.AttemptID) {
	e := p.jobs[id.Task.Job]
	if e == nil {
		return
	}
	if was, ok := e.attempts[id]; ok {
		delete(e.attempts, id)
		e.add(was, -1)
	}
	_, _, a, ok := view.Attempt(id)
	if !ok || !a.HoldsSlot() {
		return
	}
	_, stage, _, _ := view.Task(id.Task)
	is := hold{slots: stage.Slots, leaving: a.State != cluster.AttemptRunning || a.Pausing}
	e.attempts[id] = is
	e.add(is, 1)
}

func (e *entry) add(h hold, sign int) {
	if h.leaving {
		e.leaving = e.leaving.Plus(h.slots.Times(sign))
	} else {
		e.running = e.running.Plus(h.slots.Times(sign))
	}
}

// count tells a job's queue what it has and wants now. A job that may not run has
// no demand beyond what it runs.
func (p *Policy) count(view cluster.View, e *entry) {
	t := tally{running: e.running, leaving: e.leaving}
	if j := view.Job(e.id); j != nil && e.admitted {
		t.waiting, t.bundled = waits(j)
	}
	t.demand = t.running.Plus(t.waiting)
	if t != e.counted {
		e.queue.change(t.minus(e.counted))
		e.counted = t
	}
}

// weight is how much of its pool a job gets beside others.
func (p *Policy) weight(e *entry, kind int, now int64) float64 {
	w := math.Exp2(float64(min(max(e.priority, -2), 2)))
	if p.conf.SizeBasedWeight {
		w *= math.Log2(1 + float64(e.counted.demand[kind]))
	}
	if p.conf.NewJobBoost && now-e.submittedAt < p.conf.BoostMillis {
		w *= p.conf.BoostFactor
	}
	return w
}
