package disco

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/sched/deal"
)

// newRoot is where all jobs sit that want slots: of those below their share the
// one that has least comes first, then of the others.
func newRoot() *deal.Seat {
	return &deal.Seat{Compare: func(kind int, a, b *deal.Seat) int {
		x, y := a.Of.(*job), b.Of.(*job)
		has, others := x.has.Plus(a.Given()), y.has.Plus(b.Given())
		if below := x.below(kind, has); below != y.below(kind, others) {
			if below {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(has[kind], others[kind]); c != 0 {
			return c
		}
		return a.Job.Compare(b.Job)
	}}
}

// everybody is all jobs that want slots, in order of submission.
func (p *Policy) everybody() iter.Seq[*deal.Seat] {
	return func(yield func(*deal.Seat) bool) {
		for _, j := range p.line {
			if j.Waiting != (slots{}) && !yield(j.seat) {
				return
			}
		}
	}
}

// standing is what a decision looks for among all jobs, kept as they change.
type standing struct {
	waiting slots         // what all want
	between map[*job]bool // that will want slots as soon as what is being written is
	fresh   []*job        // that have never been given their share, in order of submission
}

// enter takes a job over as it is now.
func (s *standing) enter(j *job) {
	j.has = j.Running
	s.waiting = s.waiting.Plus(j.Waiting.Minus(j.wanted))
	j.wanted = j.Waiting
	if j.coming != (slots{}) {
		s.between[j] = true
	} else {
		delete(s.between, j)
	}
	s.judge(j)
	j.seat.Sit(j.Waiting)
}

// leave forgets a job.
func (s *standing) leave(j *job) {
	s.waiting = s.waiting.Minus(j.wanted)
	delete(s.between, j)
	if i, there := find(s.fresh, j.Job); there {
		s.fresh = slices.Delete(s.fresh, i, i+1)
	}
	j.seat.Sit(slots{})
}

// judge looks whether a job is new still.
func (s *standing) judge(j *job) {
	switch i, there := find(s.fresh, j.Job); {
	case there && !j.isNew():
		s.fresh = slices.Delete(s.fresh, i, i+1)
	case !there && j.isNew():
		s.fresh = slices.Insert(s.fresh, i, j)
	}
}
