package fair

import (
	"github.com/hammr/hammr/cluster"
)

// tally is the slots that a job, or all jobs of a pool, have and want.
type tally struct {
	running cluster.Slots // of attempts that keep running
	leaving cluster.Slots // of attempts that were ordered to end and have not yet
	waiting cluster.Slots // of tasks that may start now
	claims  cluster.Slots // the part of waiting that others may lose slots for
	demand  cluster.Slots // running and waiting; of a pool at most its maximum
	bundled int           // the part of waiting that bundles of several slots want
}

func (t tally) minus(o tally) tally {
	return tally{
		running: t.running.Minus(o.running), leaving: t.leaving.Minus(o.leaving),
		waiting: t.waiting.Minus(o.waiting), claims: t.claims.Minus(o.claims),
		demand: t.demand.Minus(o.demand), bundled: t.bundled - o.bundled,
	}
}

func (t tally) plus(o tally) tally {
	return tally{
		running: t.running.Plus(o.running), leaving: t.leaving.Plus(o.leaving),
		waiting: t.waiting.Plus(o.waiting), claims: t.claims.Plus(o.claims),
		demand: t.demand.Plus(o.demand), bundled: t.bundled + o.bundled,
	}
}

// occupied returns all slots that are not free.
func (t tally) occupied() cluster.Slots { return t.running.Plus(t.leaving) }
