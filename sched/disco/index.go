package disco

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/sharetree"
)

// newRoot returns the root of the share tree. Jobs below their share come first, then the
// others; within both groups they are ordered by number of slots, the fewest first, then by
// age.
func newRoot() *sharetree.Entry {
	return &sharetree.Entry{Compare: func(kind int, a, b *sharetree.Entry) int {
		x, y := a.Value.(*job), b.Value.(*job)
		has, others := x.has.Plus(a.Granted()), y.has.Plus(b.Granted())
		if below := x.below(kind, has); below != y.below(kind, others) {
			if below {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(has[kind], others[kind]), a.Job.Compare(b.Job))
	}}
}

// wanting yields all jobs that want slots, in order of submission.
func (p *Policy) wanting() iter.Seq[*sharetree.Entry] {
	return func(yield func(*sharetree.Entry) bool) {
		for _, j := range p.jobs {
			if !j.Waiting.IsZero() && !yield(j.treeEntry) {
				return
			}
		}
	}
}

// jobIndex contains the information on all jobs that a decision needs. It is updated when a
// job changes.
type jobIndex struct {
	waiting       cluster.Slots // sum over all jobs
	betweenStages map[*job]bool // jobs whose next stage waits for running tasks only
	newJobs       []*job        // jobs that have never had their share, in order of submission
}

// add enters a job with its present counts.
func (s *jobIndex) add(j *job) {
	j.has = j.Running
	s.waiting = s.waiting.Plus(j.Waiting.Minus(j.wanted))
	j.wanted = j.Waiting
	if !j.upcoming.IsZero() {
		s.betweenStages[j] = true
	} else {
		delete(s.betweenStages, j)
	}
	s.updateNew(j)
	j.treeEntry.SetDemand(j.Waiting)
}

// drop removes a job.
func (s *jobIndex) drop(j *job) {
	s.waiting = s.waiting.Minus(j.wanted)
	delete(s.betweenStages, j)
	if i, there := find(s.newJobs, j.Job); there {
		s.newJobs = slices.Delete(s.newJobs, i, i+1)
	}
	j.treeEntry.SetDemand(cluster.Slots{})
}

// updateNew enters a job into newJobs, or removes it.
func (s *jobIndex) updateNew(j *job) {
	switch i, there := find(s.newJobs, j.Job); {
	case there && !j.isNew():
		s.newJobs = slices.Delete(s.newJobs, i, i+1)
	case !there && j.isNew():
		s.newJobs = slices.Insert(s.newJobs, i, j)
	}
}
