package sharetree

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// offer is what can be given to a stage, or to a class of bundles.
type offer struct {
	sched.Want
	granted int  // at most Count
	closed  bool // it gets no more in this round
}

// offersOf are those of a job, as they are at the moment of the deal.
func (d *allocation) offersOf(s *Entry) []*offer {
	if !s.offersMade {
		s.offersMade = true
		d.touch(s)
		for w := range sched.Wants(d.job(s.Job)) {
			s.offers = append(s.offers, &offer{Want: w})
		}
	}
	return s.offers
}

func (d *allocation) job(id cluster.JobID) *cluster.Job { return d.view.Job(id) }

// open reports whether more can be granted of a kind of slots.
func (o *offer) open(kind int) bool { return !o.closed && o.Need[kind] > 0 && o.granted < o.Count }

// submit offers what is granted, once and for all.
func (o *offer) submit(round *placement.Round) {
	o.closed = true
	round.Offer(o.Want, o.granted)
}
