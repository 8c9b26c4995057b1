package fair

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Explain implements sched.Explainer.
func (p *Policy) Explain(now int64, view sched.View, job *cluster.Job) []sched.Detail {
	e := p.jobs[job.ID]
	if e == nil {
		return nil
	}
	p.refreshSlots(view.View)
	p.computeShares()
	details := []sched.Detail{{Name: "pool", Value: e.queue.Name}, {Name: "may run", Value: e.admission(p)}}
	for kind, share := range e.queue.share {
		name := cluster.Slot(kind).String()
		details = append(details,
			sched.Detail{Name: name + " slots of the pool", Value: fmt.Sprintf("%d of a fair share of %s", e.queue.running[kind], amount(share))},
			sched.Detail{Name: name + " slots of the job", Value: fmt.Sprintf("%d, wants %d", e.counted.running[kind], e.counted.demand[kind])},
			sched.Detail{Name: name + " weight", Value: amount(p.weight(e, kind, now))},
		)
		if most := e.queue.Max[kind]; most < sched.Unlimited {
			details = append(details, sched.Detail{Name: name + " slots, maximum of the pool", Value: strconv.Itoa(most)})
		}
	}
	return append(details, sched.Detail{Name: "jobs before it by priority", Value: strconv.Itoa(slices.Index(p.byPriority, e))})
}

// admission describes whether a job may run, and if not, why.
func (e *entry) admission(p *Policy) string {
	switch {
	case !e.active:
		return "no: it is over"
	case e.suspended:
		return "no: it is suspended"
	case e.admitted:
		return "yes"
	}
	return fmt.Sprintf("not yet: user %q may run %s at a time, pool %s %s",
		e.user, jobs(p.conf.Allocations.UserMaxRunning(e.user)), e.queue.Name, jobs(e.queue.MaxRunning))
}

// jobs formats a limit of running jobs.
func jobs(most int) string {
	if most == sched.Unlimited {
		return "any number of jobs"
	}
	return fmt.Sprintf("%d jobs", most)
}

// amount formats a number with at most two decimals.
func amount(x float64) string {
	return strconv.FormatFloat(float64(int64(x*100+.5))/100, 'f', -1, 64)
}

// Pools implements sched.PoolReporter.
func (p *Policy) Pools(_ int64, view sched.View) (pools []sched.Pool) {
	p.refreshSlots(view.View)
	p.computeShares()
	for _, q := range p.tree.leaves() {
		pool := sched.Pool{
			Name: q.Name, Weight: q.Weight, Min: q.Min, Max: q.Max, MaxJobs: q.MaxRunning, Order: string(q.Order), Share: q.share,
		}
		for _, e := range q.jobs {
			if e.active && !e.admitted && !e.suspended {
				pool.QueuedJobs++
			}
		}
		pools = append(pools, pool)
	}
	slices.SortFunc(pools, func(a, b sched.Pool) int { return cmp.Compare(a.Name, b.Name) })
	return pools
}

// Limit implements sched.JobLimiter: the smallest maximum of its pool and of the pools
// above.
func (p *Policy) Limit(job *cluster.Job) cluster.Slots {
	most := cluster.Slots{sched.Unlimited, sched.Unlimited}
	if e := p.jobs[job.ID]; e != nil {
		for q := e.queue; q != nil; q = q.parent {
			most = most.AtMost(q.Max)
		}
	}
	return most
}

// WaitClass implements sched.WaitClassifier. If the share of a pool is the whole cluster, no other
// pool waits for its slots, so its share is not why its jobs wait.
func (p *Policy) WaitClass(job *cluster.Job, kind cluster.Slot) sched.WaitClass {
	e := p.jobs[job.ID]
	if e == nil || e.suspended {
		return sched.NotWaiting
	}
	if !e.admitted {
		return sched.WaitLimit
	}
	for q := e.queue; q != nil; q = q.parent {
		if q.occupied()[kind] >= q.Max[kind] {
			return sched.WaitLimit
		}
	}
	p.computeShares()
	used, share := float64(e.queue.running[kind]), e.queue.share[kind]
	if used >= share && share < float64(p.slots[kind]) {
		return sched.WaitShare
	}
	return sched.NotWaiting
}

// TransferFrom implements sched.StateTransfer: it adopts the starvation clocks of pools,
// whatever their new settings are.
func (p *Policy) TransferFrom(from sched.Policy) {
	type clocked interface {
		starvationClocks() map[string]*starvationClock
	}
	if before, ok := sched.Innermost(from).(clocked); ok {
		p.clocks = before.starvationClocks()
	}
}

// starvationClocks returns the starvation clocks of pools. Policies that embed this one have
// the method too.
func (p *Policy) starvationClocks() map[string]*starvationClock { return p.clocks }

// shares returns the fair shares of all pools that jobs can be in, by name, as computed
// last. They are the first decisions of a trace, since the rest follows from them.
func (p *Policy) shares(now int64) (out []sched.Decision) {
	for _, q := range p.tree.leaves() {
		for kind, share := range q.share {
			out = append(out, sched.Decision{
				At: now, Kind: sched.DecisionShare, Pool: q.Name, Slot: cluster.Slot(kind), Share: share,
			})
		}
	}
	return out
}
