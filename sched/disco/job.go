package disco

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
)

// job is a job that is not over, with what it has and wants.
type job struct {
	*ledger.Account
	progress
	share        cluster.Slots // its share, as computed last
	preemptedFor cluster.Slots // slots that others have lost to it since Reset

	treeEntry *sharetree.Entry
	has       cluster.Slots // Running when it was last put in order
	wanted    cluster.Slots // Waiting at that time
}

// progress describes the progress of a job, by kind of slot.
type progress struct {
	participates [2]bool       // it has unfinished tasks and is not suspended
	launched     cluster.Slots // slots of all attempts so far
	upcoming     cluster.Slots // slots that its next stages want once the output of running tasks is complete
}

func progressOf(j *cluster.Job) (p progress) {
	for _, s := range j.Stages {
		p.launched = p.launched.Plus(s.Slots.Times(s.Launched))
		for kind, n := range s.Slots {
			p.participates[kind] = p.participates[kind] || n > 0 && s.Finished < len(s.Tasks) && !j.Suspended
		}
		if s.Waiting() > 0 && !j.Ready(s) && writing(s) {
			p.upcoming = p.upcoming.Plus(s.Slots.Times(s.Waiting()))
		}
	}
	return p
}

// writing reports whether all unfinished tasks that write what a stage reads are
// running.
func writing(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if up.Waiting() > 0 || len(up.Suspended()) > 0 || !up.Complete() && up.Running == 0 {
			return false
		}
	}
	return true
}

// below reports whether the slots in has are less than the job's share.
func (j *job) below(kind int, has cluster.Slots) bool { return has[kind] < j.share[kind] }

// place returns the index of a job in jobs, or where it would be inserted. Jobs are
// submitted in the order of their ids, so a new job comes last.
func (p *Policy) place(id cluster.JobID) (i int, there bool) { return find(p.jobs, id) }

// find returns the index of a job in a list in order of submission, or where it would
// be inserted.
func find(jobs []*job, id cluster.JobID) (i int, there bool) {
	return slices.BinarySearchFunc(jobs, id, func(j *job, id cluster.JobID) int { return j.Job.Compare(id) })
}

// find returns a job; nil if it is over or unknown.
func (p *Policy) find(id cluster.JobID) *job {
	i, there := p.place(id)
	if !there {
		return nil
	}
	return p.jobs[i]
}

// update reads the progress of a job, and adds or drops it.
func (p *Policy) update(view cluster.View, id cluster.JobID) {
	account := p.ledger.Account(id)
	i, known := p.place(id)
	switch {
	case account == nil || !account.Active:
		if known {
			p.drop(p.jobs[i])
			p.jobs = slices.Delete(p.jobs, i, i+1)
			p.divided = false
		}
		return
	case !known:
		p.jobs = slices.Insert(p.jobs, i, p.newJob(account))
	}
	j := p.jobs[i]
	before := j.participates
	j.progress = progressOf(view.Job(id))
	p.divided = p.divided && known && before == j.participates
	p.add(j)
}

// newJob returns a job with an entry in the share tree; it is not in jobs yet.
func (p *Policy) newJob(account *ledger.Account) *job {
	j := &job{Account: account, treeEntry: &sharetree.Entry{Job: account.Job}}
	j.treeEntry.Value = j
	j.treeEntry.Join(p.root)
	return j
}

// computeShares gives every job that takes part an equal share, rounded so that the
// oldest get the remainder.
func (p *Policy) computeShares(view cluster.View) {
	all := p.ledger.Slots(view)
	if p.divided && all == p.slots {
		return
	}
	p.slots, p.divided = all, true
	for kind, n := range all {
		equal := make([]float64, len(p.jobs))
		for i, j := range p.jobs {
			if j.participates[kind] {
				equal[i] = 1
			}
		}
		for i, slots := range share.Apportion(n, equal) {
			p.jobs[i].share[kind] = slots
		}
	}
	for _, j := range p.jobs {
		p.updateNew(j)
	}
	p.root.Reorder()
}
