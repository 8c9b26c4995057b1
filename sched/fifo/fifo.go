// Package fifo is the plainest policy: the job of the highest priority first,
// among equals the one that was submitted first. Which tasks of the jobs whose
// turn it is go to which machine is up to a placement.Placer.
package fifo

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// Policy is the FIFO policy. The zero value is ready for use and places tasks by
// min-cost flow without ever leaving a slot free.
type Policy struct {
	placer placement.Placer
	wake   int64

	queue []*entry // jobs that are not over, in the order of their turn
	byID  map[cluster.JobID]*entry
}

// entry keeps what the order depends on, so that a job can be found in the
// queue after its priority has changed.
type entry struct {
	job         cluster.JobID
	priority    int
	submittedAt int64
}

func (e *entry) compare(other *entry) int {
	return cmp.Or(
		-cmp.Compare(e.priority, other.priority),
		cmp.Compare(e.submittedAt, other.submittedAt),
		e.job.Compare(other.job),
	)
}

// New is the FIFO policy with a placement.
func New(conf sched.Placement) *Policy {
	return &Policy{placer: placement.Placer{Placement: conf}}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(_ int64, view sched.View) {
	p.placer.Reset()
	p.queue, p.byID = nil, make(map[cluster.JobID]*entry)
	for j := range view.Jobs() {
		p.place(j)
	}
}

// Observe implements sched.Policy.
func (p *Policy) Observe(_ int64, view sched.View, delta cluster.Delta) {
	p.placer.Observe(view.View, delta)
	for _, id := range delta.Jobs {
		p.remove(id)
		p.place(view.Job(id))
	}
}

// place puts a job where its turn is, unless it is over or gone.
func (p *Policy) place(j *cluster.Job) {
	if j == nil || j.State >= cluster.JobCommitting {
		return
	}
	if p.byID == nil {
		p.byID = make(map[cluster.JobID]*entry)
	}
	e := &entry{j.ID, j.EffectivePriority(), j.SubmittedAt}
	i, _ := slices.BinarySearchFunc(p.queue, e, (*entry).compare)
	p.queue = slices.Insert(p.queue, i, e)
	p.byID[j.ID] = e
}

func (p *Policy) remove(id cluster.JobID) {
	e := p.byID[id]
	if e == nil {
		return
	}
	i, _ := slices.BinarySearchFunc(p.queue, e, (*entry).compare)
	p.queue = slices.Delete(p.queue, i, i+1)
	delete(p.byID, id)
}

// NextWake implements sched.Policy: tasks may wait for machines for a while.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	round := p.placer.Round(now, view)
	t := turn{round: round}
	for _, e := range p.queue {
		if round.Remaining() == 0 {
			break
		}
		for w := range sched.Wants(view.Job(e.job)) {
			t.take(w)
		}
	}
	t.end()
	plan, p.wake = round.Finish()
	return plan
}

// turn offers slots to one want after the other. The last one of each kind is held
// back until it is known whether another comes behind it: then no slot stays free for
// its tasks to find their input on later.
type turn struct {
	round *placement.Round
	held  [2]*sched.Want // by kind of slot, of tasks that start alone
}

func (t *turn) take(w sched.Want) {
	if w.Bundle != nil {
		t.end()
		t.round.Offer(w, w.Count)
		return
	}
	kind := w.Stage.Slot
	if t.held[kind] != nil {
		t.round.DisableLocalityWait(kind)
		t.offer(kind)
	}
	t.held[kind] = &w
}

func (t *turn) offer(kind cluster.Slot) {
	if w := t.held[kind]; w != nil {
		t.round.Offer(*w, w.Count)
		t.held[kind] = nil
	}
}

// end offers what is held back.
func (t *turn) end() {
	for kind := range t.held {
		t.offer(cluster.Slot(kind))
	}
}
