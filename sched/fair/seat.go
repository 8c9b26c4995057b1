package fair

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/deal"
	"github.com/hammr/hammr/sched/pool"
)

// seatPool has a pool's seat, in the pool that it is in. Its jobs sit in an order
// of their own for each deal where that is a sched.Ranker's, or goes by their age.
func (p *Policy) seatPool(q *queue) {
	q.seat = &deal.Seat{Of: q, Compare: p.compareJobs(q), Limit: q.room}
	switch {
	case len(q.Children) > 0 || q.parent == nil:
		q.seat.Compare = p.comparePools(q)
	case p.conf.Rankers[q.Order] != nil || p.conf.NewJobBoost && q.Order != pool.FIFO:
		q.seat.Rank = p.rankJobs(q)
	}
	if q.parent != nil {
		q.seat.Join(q.parent.seat)
	}
}

// room is how many slots of a kind the jobs of a queue may get beside those that
// they hold.
func (q *queue) room(kind int) int { return max(q.Max[kind]-q.held()[kind], 0) }

// comparePools is the order of the pools in one.
func (p *Policy) comparePools(q *queue) func(kind int, a, b *deal.Seat) int {
	of := func(s *deal.Seat, kind int) standing {
		q := s.Of.(*queue)
		return standing{q.Min[kind], q.demand[kind], q.running.Plus(s.Given()), q.Weight}
	}
	return func(kind int, a, b *deal.Seat) int {
		if c := of(a, kind).compare(kind, of(b, kind), p.ratio(q.Order)); c != 0 {
			return c
		}
		x, y := a.Of.(*queue), b.Of.(*queue)
		return cmp.Or(cmp.Compare(x.age(), y.age()), cmp.Compare(x.Name, y.Name))
	}
}

// compareJobs is the order of the jobs in a pool, where they have seats that last.
func (p *Policy) compareJobs(q *queue) func(kind int, a, b *deal.Seat) int {
	if q.Order == pool.FIFO {
		return func(_ int, a, b *deal.Seat) int { return a.Of.(*entry).compare(b.Of.(*entry)) }
	}
	of := func(s *deal.Seat, kind int) standing {
		e := s.Of.(*entry)
		return standing{running: e.counted.running.Plus(s.Given()), weight: e.weights[kind]}
	}
	return func(kind int, a, b *deal.Seat) int {
		if c := p.ratio(q.Order)(kind, of(a, kind), of(b, kind)); c != 0 {
			return c
		}
		return a.Of.(*entry).compareAge(b.Of.(*entry))
	}
}

// rankJobs is the order of the jobs in a pool at one moment.
func (p *Policy) rankJobs(q *queue) func(kind int, seats []*deal.Seat) func(a, b *deal.Seat) int {
	return func(kind int, seats []*deal.Seat) func(a, b *deal.Seat) int {
		asked := sched.Queue{Pool: q.Name, Kind: cluster.Slot(kind), Slots: p.slots, Share: q.share[kind]}
		claimants := make(map[*deal.Seat]*sched.Claimant, len(seats))
		for _, s := range slices.SortedFunc(slices.Values(seats), compareEntries) {
			c := p.claimant(p.now, p.view, s.Of.(*entry))
			asked.Jobs = append(asked.Jobs, c)
			claimants[s] = c
		}
		compare := p.rank(p.now, p.view, q.Order, asked)
		of := func(s *deal.Seat) *sched.Claimant {
			c := claimants[s]
			c.Running = s.Of.(*entry).counted.running.Plus(s.Given())
			return c
		}
		return func(a, b *deal.Seat) int { return compare(of(a), of(b)) }
	}
}

func compareEntries(a, b *deal.Seat) int { return a.Of.(*entry).compare(b.Of.(*entry)) }

// claimant is a job as rankers see it.
func (p *Policy) claimant(now int64, view sched.View, e *entry) *sched.Claimant {
	c := &sched.Claimant{Job: view.Job(e.id), Running: e.counted.running, Demand: e.counted.demand}
	for kind := range c.Weight {
		c.Weight[kind] = p.weight(e, kind, now)
	}
	return c
}

// everybody is all jobs that want slots, in the order of pools, then in line.
func (t *tree) everybody() iter.Seq[*deal.Seat] {
	return func(yield func(*deal.Seat) bool) { t.root.wanters(yield) }
}

func (q *queue) wanters(yield func(*deal.Seat) bool) bool {
	for _, child := range q.children {
		if !child.wanters(yield) {
			return false
		}
	}
	for _, e := range q.jobs {
		if e.counted.waiting != (slots{}) && !yield(e.seat) {
			return false
		}
	}
	return true
}
