package fair

import (
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
)

// entry is a job that is not over, or whose attempts still have slots.
type entry struct {
	sched.Submission // its place in fifo order, as placeJob found it last
	queue            *queue
	user             string // user, for the limit of running jobs

	active    bool // the job is not over
	started   bool // it has had a slot
	suspended bool // its job is suspended, so it gets no slots
	admitted  bool // it is active and within the limits of running jobs

	account   *ledger.Account  // what it has and wants
	counted   tally            // its counts in queue
	weights   [2]float64       // its weights in queue, if they do not depend on the time
	treeEntry *sharetree.Entry // its place in the order of its queue
}

// compare returns the fifo order of jobs.
func (e *entry) compare(other *entry) int { return e.Submission.Compare(other.Submission) }

// compareAge orders jobs by submission.
func (e *entry) compareAge(other *entry) int { return e.CompareAge(other.Submission) }

// placeJob moves a job to its pool and to its place by priority, or drops it if its
// account is closed.
func (p *Policy) placeJob(view cluster.View, id cluster.JobID) {
	j, e, account := view.Job(id), p.jobs[id], p.ledger.Account(id)
	if e != nil {
		p.remove(e)
	}
	if j == nil || account == nil {
		p.forget(e)
		return
	}
	if e == nil {
		e = &entry{treeEntry: &sharetree.Entry{Job: id}}
		e.treeEntry.Value = e
		p.jobs[id] = e
	}
	e.account, e.active = account, account.Active
	e.started, e.suspended = hasStarted(j), j.Suspended
	e.admitted = e.admitted && e.active
	before := e.queue
	e.Submission, e.queue, e.user = sched.SubmissionOf(j), p.tree.queue(j.Spec.Pool), j.Spec.User
	if before != nil && before != e.queue {
		p.tree.prune(before)
	}
	insert(&e.queue.jobs, e)
	if e.active {
		insert(&p.byPriority, e)
	}
	e.treeEntry.Join(e.queue.treeEntry)
	e.queue.adjust(e.counted)
	p.updateTreeEntry(e)
}

// updateTreeEntry moves a job to its place in the order of its queue. Weights are stored,
// so that comparisons within an allocation do not compute logarithms.
func (p *Policy) updateTreeEntry(e *entry) {
	for kind := range e.weights {
		e.weights[kind] = p.weight(e, kind, e.At)
	}
	e.treeEntry.SetDemand(e.counted.waiting)
}

// forget drops a job that has been removed from its queue. It ignores nil.
func (p *Policy) forget(e *entry) {
	if e != nil {
		delete(p.jobs, e.Job)
		p.tree.prune(e.queue)
	}
}

// remove takes a job out of its queue. The job keeps its counts.
func (p *Policy) remove(e *entry) {
	e.treeEntry.SetDemand(cluster.Slots{})
	remove(&e.queue.jobs, e)
	if e.active {
		remove(&p.byPriority, e)
	}
	e.queue.adjust(tally{}.minus(e.counted))
}

// insert puts a job into a list that is in the order of entry.compare. The entry must not
// change its priority or age while it is in a list: remove would not find it.
func insert(list *[]*entry, e *entry) {
	i, _ := slices.BinarySearchFunc(*list, e, (*entry).compare)
	*list = slices.Insert(*list, i, e)
}

// remove takes a job out of a list in the order of entry.compare. The list must contain the
// job.
func remove(list *[]*entry, e *entry) {
	i, _ := slices.BinarySearchFunc(*list, e, (*entry).compare)
	*list = slices.Delete(*list, i, i+1)
}

// count passes what a job has and wants on to its queue. A job that may not run has no
// demand beyond what it runs. Nothing happens if the counts are as before: most commands
// leave the counts of most jobs unchanged.
func (p *Policy) count(e *entry) {
	t := tally{running: e.account.Running, leaving: e.account.Leaving}
	if e.admitted {
		t.waiting, t.ready, t.claims, t.bundled = e.account.Waiting, e.account.Ready, e.account.Claims, e.account.Bundled
	}
	t.demand = t.running.Plus(t.waiting)
	if more := t.minus(e.counted); more != (tally{}) {
		e.counted = t
		e.queue.adjust(more)
		p.updateTreeEntry(e)
	}
}

// weight returns the weight of a job within its pool: the weight of its priority, times the
// factors of Config that are enabled (mapred.fairscheduler.sizebasedweight and
// .newjobboost).
func (p *Policy) weight(e *entry, kind int, now int64) float64 {
	w := share.PriorityWeight(e.Priority)
	if p.conf.SizeBasedWeight {
		w *= math.Log2(1 + float64(e.counted.demand[kind]))
	}
	if p.conf.NewJobBoost && now-e.At < p.conf.BoostMillis {
		w *= p.conf.BoostFactor
	}
	return w
}
