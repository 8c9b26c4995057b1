package disco

import (
	"cmp"
	"container/heap"

	"github.com/hammr/hammr/sched"
)

// seat is a job that slots are dealt to.
type seat struct {
	job    *job
	has    slots // with those that it is dealt
	offers []*offer
	place  [2]int // in the rows; -1 in none
}

func newSeat(j *job, view sched.View) *seat {
	s := &seat{job: j, has: j.Running, place: [2]int{-1, -1}}
	for w := range sched.Wants(view.Job(j.Job)) {
		s.offers = append(s.offers, &offer{Want: w})
	}
	return s
}

// row is who may get the next slot of a kind: a heap by whose turn it is.
type row struct {
	kind  int
	seats []*seat
}

func newRow(kind int, seats []*seat) *row {
	r := &row{kind: kind}
	for _, s := range seats {
		if s.job.Waiting[kind] > 0 {
			s.place[kind] = len(r.seats)
			r.seats = append(r.seats, s)
		}
	}
	heap.Init(r)
	return r
}

// compare is whose turn it is: of those below their share the one that has least,
// then of the others.
func (r *row) compare(a, b *seat) int {
	if below := a.job.below(r.kind, a.has); below != b.job.below(r.kind, b.has) {
		if below {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.has[r.kind], b.has[r.kind]), a.job.Job.Compare(b.job.Job))
}

func (r *row) fix(s *seat) {
	if i := s.place[r.kind]; i >= 0 {
		heap.Fix(r, i)
	}
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
