package fair

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
)

// Precedes implements sched.JobComparer: a job below its fair share precedes one above
// it. For jobs of two pools the shares of the pools count. In a pool ordered by fifo or
// a sched.Ranker, that order counts.
func (p *Policy) Precedes(now int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	one, other := p.jobs[a.ID], p.jobs[b.ID]
	if one == nil || other == nil || one == other {
		return false
	}
	p.refreshSlots(view.View)
	p.computeShares()
	x, y := one.queue, other.queue
	if x != y {
		return float64(x.running[kind]) < x.share[kind] && float64(y.running[kind]) > y.share[kind]
	}
	if p.conf.Rankers[x.Order] != nil || x.Order == pool.FIFO {
		return p.outranks(now, view, kind, one, other)
	}
	shares := p.jobShares(now, x, int(kind))
	return float64(one.counted.running[kind]) < shares[one] && float64(other.counted.running[kind]) > shares[other]
}

// outranks reports whether a slot of their pool goes to one job rather than to another.
func (p *Policy) outranks(now int64, view sched.View, kind cluster.Slot, one, other *entry) bool {
	asked := sched.Queue{Pool: one.queue.Name, Kind: kind, Slots: p.slots, Share: one.queue.share[kind]}
	for _, e := range []*entry{one, other} {
		asked.Jobs = append(asked.Jobs, p.claimant(now, view, e))
	}
	return p.rank(now, view, one.queue.Order, asked)(asked.Jobs[0], asked.Jobs[1]) < 0
}

// jobShares returns the part of its pool's share that each job has a right to.
func (p *Policy) jobShares(now int64, q *queue, kind int) map[*entry]float64 {
	claims := make([]share.Claim, len(q.jobs))
	for i, e := range q.jobs {
		claims[i] = share.Claim{Weight: p.weight(e, kind, now), Demand: float64(e.counted.demand[kind])}
	}
	shares := make(map[*entry]float64, len(claims))
	for i, s := range share.Fill(q.share[kind], claims) {
		shares[q.jobs[i]] = s
	}
	return shares
}
