package fair

import (
	"cmp"
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
)

// schedulable is what a pool or a job is compared by; Hadoop's name for it.
type schedulable struct {
	min, demand int
	running     cluster.Slots
	weight      float64
}

// compare orders two schedulables for the next slot of a kind: those below their
// minimum first, by the fraction of it that they have; then by ratio. 0 means that they
// are equal.
func (s schedulable) compare(kind int, other schedulable, ratio func(kind int, a, b schedulable) int) int {
	mine, others := min(s.min, s.demand), min(other.min, other.demand)
	needy, otherNeedy := s.running[kind] < mine, other.running[kind] < others
	switch {
	case needy && otherNeedy:
		filled := func(s schedulable, least int) float64 { return float64(s.running[kind]) / max(float64(least), 1) }
		return cmp.Compare(filled(s, mine), filled(other, others))
	case needy:
		return -1
	case otherNeedy:
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

// byDominant compares the slots of the kind of which each uses the largest fraction.
// All is the slots of the cluster.
func byDominant(all cluster.Slots) func(kind int, a, b schedulable) int {
	capacity := []float64{float64(all[0]), float64(all[1])}
	holder := func(s schedulable) share.Consumer {
		return share.Consumer{Used: []float64{float64(s.running[0]), float64(s.running[1])}, Weight: s.weight}
	}
	return func(_ int, a, b schedulable) int { return share.CompareDominant(capacity, holder(a), holder(b)) }
}

// ratioOf returns what an order compares beyond minima.
func ratioOf(order pool.Order, all cluster.Slots) func(kind int, a, b schedulable) int {
	if order == pool.DRF {
		return byDominant(all)
	}
	return byWeight
}

// ratio is ratioOf with the slots of the cluster.
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
			return cmp.Or(-cmp.Compare(a.Job.EffectivePriority(), b.Job.EffectivePriority()), byAge(a.Job, b.Job))
		}
	}
	ratio, kind := ratioOf(order, q.Slots), int(q.Kind)
	of := func(c *sched.Claimant) schedulable { return schedulable{running: c.Running, weight: c.Weight[kind]} }
	return func(a, b *sched.Claimant) int { return cmp.Or(ratio(kind, of(a), of(b)), byAge(a.Job, b.Job)) }
}

func byAge(a, b *cluster.Job) int {
	return cmp.Or(cmp.Compare(a.SubmittedAt, b.SubmittedAt), a.ID.Compare(b.ID))
}
