package fair

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/sharetree"
)

// addTreeEntry gives a queue its entry in the share tree. The order of its jobs is built
// again in each allocation if a sched.Ranker defines it or if it depends on the age of jobs.
func (p *Policy) addTreeEntry(q *queue) {
	q.treeEntry = &sharetree.Entry{Value: q, Compare: p.compareJobs(q), Limit: q.remaining}
	switch {
	case len(q.Children) > 0 || q.parent == nil:
		q.treeEntry.Compare = p.comparePools(q)
	case p.conf.Rankers[q.Order] != nil || p.conf.NewJobBoost && q.Order != pool.FIFO:
		q.treeEntry.Rank = p.rankJobs(q)
	}
	if q.parent != nil {
		q.treeEntry.Join(q.parent.treeEntry)
	}
}

// compareReady puts entries with tasks that can work before those whose tasks would only wait
// for input in their slots. All are equal unless shares are conserved.
func (p *Policy) compareReady(kind int, a, b *sharetree.Entry) int {
	if !p.conf.ConserveShares {
		return 0
	}
	waits := func(s *sharetree.Entry) int {
		if readyOf(s)[kind] > s.Granted()[kind] {
			return 0
		}
		return 1
	}
	return cmp.Compare(waits(a), waits(b))
}

// readyOf returns the slots that an entry wants for tasks whose input is complete.
func readyOf(s *sharetree.Entry) cluster.Slots {
	if q, ok := s.Value.(*queue); ok {
		return q.ready
	}
	return s.Value.(*entry).counted.ready
}

// remaining returns how many slots of a kind the jobs of a queue may get in addition to
// those that they occupy.
func (q *queue) remaining(kind int) int { return max(q.Max[kind]-q.occupied()[kind], 0) }

// comparePools returns the order of the pools in a queue.
func (p *Policy) comparePools(q *queue) func(kind int, a, b *sharetree.Entry) int {
	of := func(s *sharetree.Entry, kind int) schedulable {
		q := s.Value.(*queue)
		return schedulable{q.Min[kind], q.demand[kind], q.running.Plus(s.Granted()), q.Weight}
	}
	return func(kind int, a, b *sharetree.Entry) int {
		if c := p.compareReady(kind, a, b); c != 0 {
			return c
		}
		if c := of(a, kind).compare(kind, of(b, kind), p.ratio(q.Order)); c != 0 {
			return c
		}
		x, y := a.Value.(*queue), b.Value.(*queue)
		return cmp.Or(cmp.Compare(x.oldestWaiting(), y.oldestWaiting()), cmp.Compare(x.Name, y.Name))
	}
}

// compareJobs returns the order of the jobs of a queue, if it changes only with the
// jobs.
func (p *Policy) compareJobs(q *queue) func(kind int, a, b *sharetree.Entry) int {
	if q.Order == pool.FIFO {
		return func(kind int, a, b *sharetree.Entry) int {
			return cmp.Or(p.compareReady(kind, a, b), a.Value.(*entry).compare(b.Value.(*entry)))
		}
	}
	of := func(s *sharetree.Entry, kind int) schedulable {
		e := s.Value.(*entry)
		return schedulable{running: e.counted.running.Plus(s.Granted()), weight: e.weights[kind]}
	}
	return func(kind int, a, b *sharetree.Entry) int {
		if c := p.compareReady(kind, a, b); c != 0 {
			return c
		}
		if c := p.ratio(q.Order)(kind, of(a, kind), of(b, kind)); c != 0 {
			return c
		}
		return a.Value.(*entry).compareAge(b.Value.(*entry))
	}
}

// rankJobs returns the order of the jobs of a queue for one allocation. The share tree calls
// it with all entries of a kind before it grants the first slot, and compares again after
// each slot.
func (p *Policy) rankJobs(q *queue) func(kind int, entries []*sharetree.Entry) func(a, b *sharetree.Entry) int {
	return func(kind int, entries []*sharetree.Entry) func(a, b *sharetree.Entry) int {
		request := sched.Queue{Pool: q.Name, Kind: cluster.Slot(kind), Slots: p.slots, Share: q.share[kind]}
		claimants := make(map[*sharetree.Entry]*sched.Claimant, len(entries))
		for _, s := range slices.SortedFunc(slices.Values(entries), compareEntries) {
			c := p.claimant(p.now, p.view, s.Value.(*entry))
			request.Jobs = append(request.Jobs, c)
			claimants[s] = c
		}
		compare := p.rank(p.now, p.view, q.Order, request)
		of := func(s *sharetree.Entry) *sched.Claimant {
			c := claimants[s]
			c.Running = s.Value.(*entry).counted.running.Plus(s.Granted())
			return c
		}
		return func(a, b *sharetree.Entry) int { return cmp.Or(p.compareReady(kind, a, b), compare(of(a), of(b))) }
	}
}

// compareEntries gives rankers the jobs in an order that does not depend on the heap.
func compareEntries(a, b *sharetree.Entry) int { return a.Value.(*entry).compare(b.Value.(*entry)) }

// claimant returns a job as rankers see it.
func (p *Policy) claimant(now int64, view sched.View, e *entry) *sched.Claimant {
	c := &sched.Claimant{Job: view.Job(e.Job), Running: e.counted.running, Demand: e.counted.demand}
	for kind := range c.Weight {
		c.Weight[kind] = p.weight(e, kind, now)
	}
	return c
}

// wanting yields all jobs that want slots, by pool and then by priority.
func (t *tree) wanting() iter.Seq[*sharetree.Entry] {
	return func(yield func(*sharetree.Entry) bool) { t.root.wanters(yield) }
}

// wanters yields the jobs of a queue that want slots, those of its children first. It
// returns false once yield does.
func (q *queue) wanters(yield func(*sharetree.Entry) bool) bool {
	for _, child := range q.children {
		if !child.wanters(yield) {
			return false
		}
	}
	for _, e := range q.jobs {
		if !e.counted.waiting.IsZero() && !yield(e.treeEntry) {
			return false
		}
	}
	return true
}
