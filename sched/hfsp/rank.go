package hfsp

import (
	"cmp"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Ranker is HFSP's order for the jobs of a pool. Its virtual cluster has the jobs of
// all pools, which share it by their own weights: the share of a pool in the real
// cluster changes all the time, and the state has no record of it.
type Ranker struct{ model }

// NewRanker returns the order. Call Reset before any other method. It uses the part of
// the configuration that sizes depend on.
func NewRanker(conf Config) *Ranker {
	conf.ensureDefaults()
	return &Ranker{model{conf: conf}}
}

// Reset implements sched.Ranker.
func (r *Ranker) Reset(_ int64, view sched.View) { r.reset(view.View) }

// Observe implements sched.Ranker.
func (r *Ranker) Observe(now int64, view sched.View, delta cluster.Delta) {
	r.observe(now, view.View, delta)
}

// Rank implements sched.Ranker: samples first, then late jobs by running slots per
// weight, then the others in order. It is the order of the allocator, for one pool.
func (r *Ranker) Rank(now int64, view sched.View, queue sched.Queue) func(a, b *sched.Claimant) int {
	r.projectSizes(now, view)
	r.inLine(queue.Kind)
	return func(a, b *sched.Claimant) int {
		x, y := r.place(now, queue.Kind, a), r.place(now, queue.Kind, b)
		return cmp.Or(x.compare(y), r.compareJobs(queue.Kind, a.Job.ID, b.Job.ID), a.Job.ID.Compare(b.Job.ID))
	}
}

// compareJobs orders jobs by their phases of a kind; jobs without such a phase are equal.
func (r *Ranker) compareJobs(kind cluster.Slot, a, b cluster.JobID) int {
	x, y := r.phases[phaseID{a, kind}], r.phases[phaseID{b, kind}]
	if x == nil || y == nil {
		return 0
	}
	return r.compare(x, y)
}

// place is the rank of a job in its pool.
type place struct {
	class int     // 0 for samples, 1 for late jobs, 2 for other jobs, 3 for jobs that have not entered
	part  float64 // for late jobs: running slots per weight
}

// compare puts the lower class first, then the smaller part.
func (s place) compare(other place) int {
	return cmp.Or(cmp.Compare(s.class, other.class), cmp.Compare(s.part, other.part))
}

// place returns the rank of a job in its pool.
func (r *Ranker) place(now int64, kind cluster.Slot, c *sched.Claimant) place {
	p := r.phases[phaseID{c.Job.ID, kind}]
	switch {
	case p == nil || !p.entered:
		return place{class: 3}
	case p.training() && c.Running[kind]+p.finished < min(r.conf.Samples[kind], p.tasks):
		return place{}
	case p.late(now):
		return place{1, float64(c.Running[kind]) / p.weight}
	}
	return place{class: 2}
}
