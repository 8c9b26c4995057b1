package disco

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
)

type slots = sched.Slots

// job is one that is not over, with what it has and wants.
type job struct {
	*ledger.Account
	progress
	share        slots // what it ought to have, as divide has found it
	preemptedFor slots // that others have lost for it since the policy was reset

	treeEntry *sharetree.Entry
	has       slots // what it was running when it sat down
	wanted    slots // likewise
}

// progress is how far a job is, by kind of slot.
type progress struct {
	participates [2]bool // it has tasks that have not finished, and is not suspended
	launched     slots   // that all its attempts so far have been given
	upcoming     slots   // what its next stages will want as soon as all is written that is being written
}

func progressOf(j *cluster.Job) (p progress) {
	for _, s := range j.Stages {
		p.launched = p.launched.Plus(slots(s.Slots).Times(s.Launched))
		for kind, n := range s.Slots {
			p.participates[kind] = p.participates[kind] || n > 0 && s.Finished < len(s.Tasks) && !j.Suspended
		}
		if s.Waiting() > 0 && !j.Ready(s) && writing(s) {
			p.upcoming = p.upcoming.Plus(slots(s.Slots).Times(s.Waiting()))
		}
	}
	return p
}

// writing reports whether all tasks run that write what a stage reads, and have
// not finished.
func writing(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if up.Waiting() > 0 || len(up.Suspended()) > 0 || !up.Complete() && up.Running == 0 {
			return false
		}
	}
	return true
}

// below reports whether a job that has so many slots has less than its share.
func (j *job) below(kind int, has slots) bool { return has[kind] < j.share[kind] }

// place is where a job stands in line, or would.
func (p *Policy) place(id cluster.JobID) (i int, there bool) { return find(p.jobs, id) }

// find is where a job stands among some in order of submission, or would.
func find(jobs []*job, id cluster.JobID) (i int, there bool) {
	return slices.BinarySearchFunc(jobs, id, func(j *job, id cluster.JobID) int { return j.Job.Compare(id) })
}

// find is a job in line, nil when it is not there.
func (p *Policy) find(id cluster.JobID) *job {
	i, there := p.place(id)
	if !there {
		return nil
	}
	return p.jobs[i]
}

// update takes over how far a job is, and keeps it in line as long as it is not
// over.
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

// newJob is one that has a seat, and is not in line.
func (p *Policy) newJob(account *ledger.Account) *job {
	j := &job{Account: account, treeEntry: &sharetree.Entry{Job: account.Job}}
	j.treeEntry.Value = j
	j.treeEntry.Join(p.root)
	return j
}

// computeShares finds the share of each job: the same for all that take part, what is left
// over for those that were submitted first.
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
