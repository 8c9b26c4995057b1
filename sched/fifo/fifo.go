// Package fifo is the simplest policy: the job of the highest priority gets slots first, and
// of jobs with equal priority the one submitted first. Package placement chooses the
// machines.
package fifo

import (
	"slices"
	"strconv"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// Policy is the FIFO policy. The zero value is ready for use; it places tasks by
// min-cost flow and never leaves a slot free.
type Policy struct {
	placer placement.Placer
	wake   int64 // when Decide may find more although nothing changes, ms; 0 is never

	queue []sched.Submission                 // jobs that are not over, in order
	byID  map[cluster.JobID]sched.Submission // the same; nil before the first job
}

// New returns a FIFO policy with a placement. Call Reset before any other method.
func New(conf sched.Placement) *Policy {
	return &Policy{placer: placement.Placer{Placement: conf}}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(_ int64, view sched.View) {
	p.placer.Reset()
	p.queue, p.byID = nil, make(map[cluster.JobID]sched.Submission)
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

// place inserts a job into the queue, unless it is over or gone.
func (p *Policy) place(j *cluster.Job) {
	if j == nil || j.State >= cluster.JobCommitting {
		return
	}
	if p.byID == nil {
		p.byID = make(map[cluster.JobID]sched.Submission)
	}
	e := sched.SubmissionOf(j)
	i, _ := slices.BinarySearchFunc(p.queue, e, sched.Submission.Compare)
	p.queue = slices.Insert(p.queue, i, e)
	p.byID[j.ID] = e
}

// remove takes a job out of the queue, if it is there.
func (p *Policy) remove(id cluster.JobID) {
	e, queued := p.byID[id]
	if !queued {
		return
	}
	i, _ := slices.BinarySearchFunc(p.queue, e, sched.Submission.Compare)
	p.queue = slices.Delete(p.queue, i, i+1)
	delete(p.byID, id)
}

// NextWake implements sched.Policy: tasks may wait a while for better machines.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy: it offers slots to every want in the order of the
// queue, until none is left. A job that cannot use a slot does not block those behind it.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	round := p.placer.Round(now, view)
	t := turn{round: round}
	for _, e := range p.queue {
		if round.Remaining() == 0 {
			break
		}
		for w := range sched.Wants(view.Job(e.Job)) {
			t.take(w)
		}
	}
	t.end()
	plan, p.wake = round.Finish()
	return plan
}

// turn offers slots to one want after the other. It keeps back the last want of each kind of
// slot until it knows whether another one follows: if another want follows, no slot stays
// free for tasks that find their input there later. The second job would take such a slot at
// once.
type turn struct {
	round *placement.Round
	last  [2]*sched.Want // by kind of slot: the want that is kept back, for tasks that start alone
}

// take offers slots to a want, or keeps it back. Bundles are offered at once, after
// everything kept back before them: they reserve slots, and earlier jobs come first.
func (t *turn) take(w sched.Want) {
	if w.Bundle != nil {
		t.end()
		t.round.Offer(w, w.Count)
		return
	}
	kind := w.Stage.Slot
	if t.last[kind] != nil {
		t.round.DisableLocalityWait(kind)
		t.offer(kind)
	}
	t.last[kind] = &w
}

// offer offers slots to the want of a kind that is kept back, if there is one.
func (t *turn) offer(kind cluster.Slot) {
	if w := t.last[kind]; w != nil {
		t.round.Offer(*w, w.Count)
		t.last[kind] = nil
	}
}

// end offers the wants that are kept back.
func (t *turn) end() {
	for kind := range t.last {
		t.offer(cluster.Slot(kind))
	}
}

// OrderIsStatic implements sched.StaticOrder.
func (*Policy) OrderIsStatic(int64) bool { return true }

// Precedes implements sched.JobComparer: the job that is first in the queue precedes.
func (p *Policy) Precedes(_ int64, _ sched.View, _ cluster.Slot, a, b *cluster.Job) bool {
	one, queued := p.byID[a.ID]
	other, otherQueued := p.byID[b.ID]
	return queued && otherQueued && one.Compare(other) < 0
}

// Explain implements sched.Explainer: the priority of a job, how many jobs are before it in
// the queue, and the slots that these jobs wait for.
func (p *Policy) Explain(_ int64, view sched.View, job *cluster.Job) []sched.Detail {
	e, queued := p.byID[job.ID]
	if !queued {
		return nil
	}
	before := p.queue[:slices.Index(p.queue, e)]
	var wanted cluster.Slots
	for _, other := range before {
		for w := range sched.Wants(view.Job(other.Job)) {
			wanted = wanted.Plus(w.TotalNeed())
		}
	}
	return []sched.Detail{
		{Name: "priority", Value: strconv.Itoa(e.Priority)},
		{Name: "jobs before it in the queue", Value: strconv.Itoa(len(before))},
		{Name: "slots that those wait for", Value: strconv.Itoa(wanted[cluster.MapSlot]) + " map, " + strconv.Itoa(wanted[cluster.ReduceSlot]) + " reduce"},
	}
}
