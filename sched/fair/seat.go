package fair

import (
	"cmp"
	"container/heap"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// seat is a pool, or a job of one, that slots are dealt to.
type seat struct {
	parent  *seat // nil for the root
	given   slots // in this deal
	missing slots // of those given, not free yet
	rows    [2]*row
	place   [2]int // in the rows of parent; -1 in none

	queue    *queue  // of a pool
	children []*seat // of a pool: those in it that want something

	claimant *sched.Claimant // of a job
	offers   []*offer        // of a job
}

// row is who in a pool may get the next slot of a kind: a heap by whose turn it
// is.
type row struct {
	kind    int
	seats   []*seat
	compare func(a, b *seat) int
}

func (r *row) Len() int           { return len(r.seats) }
func (r *row) Less(i, k int) bool { return r.compare(r.seats[i], r.seats[k]) < 0 }

func (r *row) Swap(i, k int) {
	r.seats[i], r.seats[k] = r.seats[k], r.seats[i]
	r.seats[i].place[r.kind], r.seats[k].place[r.kind] = i, k
}

// Push implements heap.Interface; nobody comes late.
func (r *row) Push(x any) { r.seats = append(r.seats, x.(*seat)) }

func (r *row) Pop() any {
	last := len(r.seats) - 1
	s := r.seats[last]
	s.place[r.kind] = -1
	r.seats = r.seats[:last]
	return s
}

// row is that of a pool for a kind.
func (d *deal) row(s *seat, kind int) *row {
	if s.rows[kind] != nil {
		return s.rows[kind]
	}
	if s.children == nil {
		s.children = d.seats(s)
	}
	r := &row{kind: kind}
	s.rows[kind] = r
	for _, child := range s.children {
		if child.waiting(kind) > 0 {
			child.place[kind] = len(r.seats)
			r.seats = append(r.seats, child)
		}
	}
	if r.compare = d.comparePools(s.queue, kind); len(s.queue.children) == 0 {
		r.compare = d.compareJobs(s.queue, r)
	}
	heap.Init(r)
	return r
}

// seats are those in a pool that want slots.
func (d *deal) seats(s *seat) (seats []*seat) {
	for _, child := range s.queue.children {
		if child.waiting != (slots{}) {
			seats = append(seats, &seat{parent: s, queue: child, place: [2]int{-1, -1}})
		}
	}
	for _, e := range s.queue.jobs {
		if e.counted.waiting != (slots{}) {
			seats = append(seats, d.seatOf(s, e))
		}
	}
	return seats
}

func (d *deal) seatOf(parent *seat, e *entry) *seat {
	c := d.policy.claimant(d.now, d.view, e)
	return &seat{parent: parent, claimant: c, offers: offersOf(c.Job), place: [2]int{-1, -1}}
}

// claimant is a job as rankers see it.
func (p *Policy) claimant(now int64, view sched.View, e *entry) *sched.Claimant {
	c := &sched.Claimant{Job: view.Job(e.id), Running: e.counted.running, Demand: e.counted.demand}
	for kind := range c.Weight {
		c.Weight[kind] = p.weight(e, kind, now)
	}
	return c
}

// waiting is how many slots of a kind somebody wants.
func (s *seat) waiting(kind int) (n int) {
	if s.queue != nil {
		return s.queue.waiting[kind]
	}
	for _, o := range s.offers {
		n += o.Need[kind] * o.Count
	}
	return n
}

// comparePools is the order of the pools in one.
func (d *deal) comparePools(q *queue, kind int) func(a, b *seat) int {
	ratio := ratioOf(q.Order, d.policy.slots)
	of := func(s *seat) standing {
		return standing{s.queue.Min[kind], s.queue.demand[kind], s.queue.running.Plus(s.given), s.queue.Weight}
	}
	return func(a, b *seat) int {
		return cmp.Or(
			of(a).compare(kind, of(b), ratio),
			cmp.Compare(a.queue.age(), b.queue.age()),
			cmp.Compare(a.queue.Name, b.queue.Name),
		)
	}
}

// compareJobs is the order of the jobs in a pool.
func (d *deal) compareJobs(q *queue, r *row) func(a, b *seat) int {
	asked := sched.Queue{Pool: q.Name, Kind: cluster.Slot(r.kind), Slots: d.policy.slots, Share: q.share[r.kind]}
	for _, s := range r.seats {
		asked.Jobs = append(asked.Jobs, s.claimant)
	}
	compare := d.policy.rank(d.now, d.view, q.Order, asked)
	return func(a, b *seat) int { return compare(a.claimant, b.claimant) }
}
