package disco

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/sharetree"
	"github.com/hammr/hammr/sched/victim"
)

// preempt frees slots for jobs that have never had their whole share. Slots that they are
// granted now, and slots that are about to come free, count first. wake is the time to try
// again if there were too few victims.
func (p *Policy) preempt(now int64, view sched.View, given map[*sharetree.Entry]cluster.Slots) (preempts []sched.Preempt, wake int64) {
	p.requested = nil
	needs := p.needs(view, given)
	if len(needs[0])+len(needs[1]) == 0 {
		return nil, 0
	}
	w := &wave{finder: &victim.Finder{Now: now, View: view, Preempt: p.conf.Preempt}, needs: needs, requests: make(map[cluster.AttemptID]request)}
	for _, j := range p.jobs {
		w.donors = append(w.donors, &donor{job: j, left: j.Running})
	}
	for kind := range needs {
		if !w.free(cluster.Slot(kind)) {
			wake = now + victim.Retry
		}
	}
	p.requested = w.requests
	return w.preempts, wake
}

// need counts the slots of a kind that a job lacks.
type need struct {
	job   *job
	slots int // at least 1
}

// needs returns the slots that new jobs lack, by kind. Free slots, and slots about to come
// free, go to the oldest job first.
func (p *Policy) needs(view sched.View, given map[*sharetree.Entry]cluster.Slots) (needs [2][]need) {
	coming := p.ledger.Leaving()
	for _, j := range p.newJobs {
		if j.Claims.IsZero() {
			continue
		}
		lacks := j.unusedShare(view).Minus(given[j.treeEntry]).AtMost(j.share.Minus(j.preemptedFor))
		for kind, n := range lacks {
			n = max(n, 0)
			if lacks := n - coming[kind]; lacks > 0 {
				needs[kind] = append(needs[kind], need{j, lacks})
			}
			coming[kind] = max(coming[kind]-n, 0)
		}
	}
	return needs
}

// request describes slots that are taken from an attempt for a job.
type request struct {
	slots cluster.Slots // slots of the victim
	whose cluster.JobID // the job that is to get them
}

// confirm counts the slots of a victim for the job that requested them, once the victim
// has been ordered to give them up.
func (p *Policy) confirm(view cluster.View, id cluster.AttemptID) {
	requests, ok := p.requested[id]
	if !ok {
		return
	}
	if _, _, a, there := view.Attempt(id); there && a.State == cluster.AttemptRunning {
		return
	}
	delete(p.requested, id)
	if j := p.find(requests.whose); j != nil {
		j.preemptedFor = j.preemptedFor.Plus(requests.slots)
	}
}

// isNew reports whether a job wants slots of a kind and has never had its share of that
// kind.
func (j *job) isNew() bool {
	for kind, n := range j.launched {
		if j.Waiting[kind] > 0 && n < j.share[kind] {
			return true
		}
	}
	return false
}

// unusedShare returns the part of its share that a job has never had and can use, in
// whole tasks and bundles.
func (j *job) unusedShare(view sched.View) (rest cluster.Slots) {
	for w := range sched.Wants(view.Job(j.Job)) {
		left := j.share.Minus(j.launched).Minus(rest)
		rest = rest.Plus(w.Need.Times(min(w.Count, w.Need.CountIn(left))))
	}
	return rest
}

// donor is a job that can lose slots. A new job takes slots from the job with the most slots
// beyond its share, so donors are compared again after each victim.
type donor struct {
	job      *job
	left     cluster.Slots      // slots that it keeps
	victims  [2][]victim.Victim // attempts that can still be taken, by kind, the youngest first; filled in when needed
	searched [2]bool
}

// excess returns how many slots a job has beyond its share.
func (d *donor) excess(kind cluster.Slot) int { return d.left[kind] - d.job.share[kind] }

// wave is one round of freeing slots.
type wave struct {
	finder   *victim.Finder // shared by both kinds: an attempt is taken once
	donors   []*donor
	needs    [2][]need
	requests map[cluster.AttemptID]request
	preempts []sched.Preempt // preemptions planned so far
}

// free takes one victim at a time, each from the job most above its share. It returns
// false if a job above its share keeps slots that are wanted.
func (w *wave) free(kind cluster.Slot) (all bool) {
	donors, all := slices.Clone(w.donors), true
	for len(w.needs[kind]) > 0 && len(donors) > 0 {
		most := slices.MaxFunc(donors, compareAbove(kind))
		if most.excess(kind) <= 0 {
			break
		}
		if !w.take(most, kind) {
			all = false
			donors = slices.DeleteFunc(donors, func(d *donor) bool { return d == most })
		}
	}
	return all
}

// compareAbove compares how far jobs are above their share. Of equal jobs, the younger is
// greater.
func compareAbove(kind cluster.Slot) func(a, b *donor) int {
	return func(a, b *donor) int {
		return cmp.Or(cmp.Compare(a.excess(kind), b.excess(kind)), a.job.Job.Compare(b.job.Job))
	}
}

// take takes the next victim of a job. It returns false if the job would fall below its
// share without any victim.
func (w *wave) take(d *donor, kind cluster.Slot) bool {
	if !d.searched[kind] {
		d.victims[kind], d.searched[kind] = w.finder.VictimsOf(d.job.Account, kind), true
	}
	i, p := w.finder.First(d.victims[kind], func(v victim.Victim, _ *cluster.Attempt) bool { return d.affords(v) })
	if i < 0 {
		return false
	}
	slots := d.victims[kind][i].Slots
	d.victims[kind] = d.victims[kind][i+1:]
	whose := w.needs[kind][0].job.Job
	p.Cause, p.For = fmt.Sprintf("job %v has more than its share, and job %v is new", d.job.Job, whose), whose
	d.left = d.left.Minus(slots)
	w.preempts, w.requests[p.Attempt] = append(w.preempts, p), request{slots, whose}
	w.meet(slots)
	return true
}

// meet subtracts freed slots from the needs, the oldest job's first.
func (w *wave) meet(freed cluster.Slots) {
	for kind, n := range freed {
		for needs := w.needs[kind]; n > 0 && len(needs) > 0; w.needs[kind] = needs {
			part := min(n, needs[0].slots)
			n -= part
			if needs[0].slots -= part; needs[0].slots == 0 {
				needs = needs[1:]
			}
		}
	}
}

// affords reports whether a job still has its share if it loses a victim.
func (d *donor) affords(v victim.Victim) bool {
	return v.Slots.FitsIn(d.left.Minus(d.job.share))
}
