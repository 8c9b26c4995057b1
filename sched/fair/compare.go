package fair

import (
	"cmp"
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
)

// schedulable contains the values by which pools and jobs are compared; the name is
// Hadoop's. Jobs have no minimum and, compared by ratio only, no demand.
type schedulable struct {
	min, demand int           // slots of the kind that is given out
	running     cluster.Slots // running slots, including slots granted in this allocation
	weight      float64       // weight; 0 is a right to the minimum only
}

// compare orders two schedulables for the next slot of a kind: those below their minimum
// first, by the fraction of the minimum that they have; then by ratio. 0 means that they are
// equal. It is Hadoop's FairShareComparator; without minima it is the order of the Hammr
// paper (section 5.1), which serves the pool with the smallest weighted share.
func (s schedulable) compare(kind int, other schedulable, ratio func(kind int, a, b schedulable) int) int {
	mine, others := min(s.min, s.demand), min(other.min, other.demand)
	belowMin, otherBelowMin := s.running[kind] < mine, other.running[kind] < others
	switch {
	case belowMin && otherBelowMin:
		filled := func(s schedulable, least int) float64 { return float64(s.running[kind]) / max(float64(least), 1) }
		return cmp.Compare(filled(s, mine), filled(other, others))
	case belowMin:
		return -1
	case otherBelowMin:
		return 1
	}
	return ratio(kind, s, other)
}

// byWeight compares running slots of a kind per weight. A schedulable without weight
// comes after all others.
func byWeight(kind int, a, b schedulable) int {
	ratio := func(s schedulable) float64 {
		if s.weight > 0 {
			return float64(s.running[kind]) / s.weight
		}
		return math.Inf(1)
	}
	return cmp.Or(cmp.Compare(ratio(a), ratio(b)), unweighted(kind, a, b))
}

// unweighted compares two schedulables without weight.
func unweighted(kind int, a, b schedulable) int {
	if a.weight > 0 || b.weight > 0 {
		return 0
	}
	return cmp.Compare(a.running[kind], b.running[kind])
}

// byDominant compares schedulables by dominant share: the largest fraction of the slots of a
// kind that each uses. All contains the slots of the cluster.
func byDominant(all cluster.Slots) func(kind int, a, b schedulable) int {
	capacity := []float64{float64(all[0]), float64(all[1])}
	holder := func(s schedulable) share.Consumer {
		return share.Consumer{Used: []float64{float64(s.running[0]), float64(s.running[1])}, Weight: s.weight}
	}
	return func(_ int, a, b schedulable) int { return share.CompareDominant(capacity, holder(a), holder(b)) }
}

// ratioOf returns the comparison by which an order ranks schedulables after their minima.
func ratioOf(order pool.Order, all cluster.Slots) func(kind int, a, b schedulable) int {
	if order == pool.DRF {
		return byDominant(all)
	}
	return byWeight
}

// ratio returns ratioOf for the slots of the cluster.
func (p *Policy) ratio(order pool.Order) func(kind int, a, b schedulable) int {
	if order == pool.DRF {
		return p.dominant
	}
	return byWeight
}

// rank returns the order of the jobs of a queue.
func (p *Policy) rank(now int64, view sched.View, order pool.Order, q sched.Queue) func(a, b *sched.Claimant) int {
	if r := p.conf.Rankers[order]; r != nil {
		return r.Rank(now, view, q)
	}
	if order == pool.FIFO {
		return func(a, b *sched.Claimant) int {
			return sched.SubmissionOf(a.Job).Compare(sched.SubmissionOf(b.Job))
		}
	}
	ratio, kind := ratioOf(order, q.Slots), int(q.Kind)
	of := func(c *sched.Claimant) schedulable { return schedulable{running: c.Running, weight: c.Weight[kind]} }
	return func(a, b *sched.Claimant) int {
		return cmp.Or(ratio(kind, of(a), of(b)), sched.SubmissionOf(a.Job).CompareAge(sched.SubmissionOf(b.Job)))
	}
}

// Precedes implements sched.JobComparer: a job below its fair share precedes one above it.
// For jobs of two pools the shares of the pools count. In a pool ordered by fifo or a
// sched.Ranker, that order counts. Chronos calls Precedes before it preempts (its paper,
// section 3.2).
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

// outranks reports whether a slot of the pool goes to job one before job other.
func (p *Policy) outranks(now int64, view sched.View, kind cluster.Slot, one, other *entry) bool {
	request := sched.Queue{Pool: one.queue.Name, Kind: kind, Slots: p.slots, Share: one.queue.share[kind]}
	for _, e := range []*entry{one, other} {
		request.Jobs = append(request.Jobs, p.claimant(now, view, e))
	}
	return p.rank(now, view, one.queue.Order, request)(request.Jobs[0], request.Jobs[1]) < 0
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
