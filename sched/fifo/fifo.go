// Package fifo is the plainest policy: the job of the highest priority first,
// among equals the one that was submitted first. Within a job a machine gets
// the tasks whose splits lie on it before others.
package fifo

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Policy is the FIFO policy. The zero value is ready for use.
type Policy struct {
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

// Reset implements sched.Policy.
func (p *Policy) Reset(_ int64, view cluster.View) {
	p.queue, p.byID = nil, make(map[cluster.JobID]*entry)
	for j := range view.Jobs() {
		p.place(j)
	}
}

// Observe implements sched.Policy.
func (p *Policy) Observe(_ int64, view cluster.View, delta cluster.Delta) {
	for _, id := range delta.Jobs {
		p.remove(id)
		p.place(view.Job(id))
	}
}

// place puts a job where its turn is, unless it is over.
func (p *Policy) place(j *cluster.Job) {
	if j.State >= cluster.JobCommitting {
		return
	}
	if p.byID == nil {
		p.byID = make(map[cluster.JobID]*entry)
	}
	e := &entry{j.ID, j.Spec.Priority, j.SubmittedAt}
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

// NextWake implements sched.Policy: time alone changes nothing.
func (p *Policy) NextWake() int64 { return 0 }

// Decide implements sched.Policy.
func (p *Policy) Decide(_ int64, view cluster.View) sched.Plan {
	var plan sched.Plan
	for _, kind := range []cluster.Slot{cluster.MapSlot, cluster.ReduceSlot} {
		slots := freeSlots(view, kind)
		for _, e := range p.queue {
			if slots.left == 0 {
				break
			}
			slots.fill(view.Job(e.job), &plan)
		}
	}
	return plan
}
