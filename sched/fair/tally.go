package fair

import "github.com/hammr/hammr/cluster"

// slots is how many there are of each kind.
type slots [2]int

func (s slots) plus(t slots) slots  { return slots{s[0] + t[0], s[1] + t[1]} }
func (s slots) minus(t slots) slots { return slots{s[0] - t[0], s[1] - t[1]} }
func (s slots) times(n int) slots   { return slots{s[0] * n, s[1] * n} }
func (s slots) atMost(t [2]int) slots {
	return slots{min(s[0], t[0]), min(s[1], t[1])}
}

// tally is the slots that a job, or all jobs of a pool, have and want.
type tally struct {
	running slots // of attempts that go on
	leaving slots // of attempts that are told to end, and have not yet
	waiting slots // of tasks that may start now
	demand  slots // running and waiting; in a pool no more than its maximum
	bundled int   // of those waiting, what bundles of several slots want
}

func (t tally) minus(o tally) tally {
	return tally{
		t.running.minus(o.running), t.leaving.minus(o.leaving), t.waiting.minus(o.waiting), t.demand.minus(o.demand),
		t.bundled - o.bundled,
	}
}

func (t tally) plus(o tally) tally {
	return tally{
		t.running.plus(o.running), t.leaving.plus(o.leaving), t.waiting.plus(o.waiting), t.demand.plus(o.demand),
		t.bundled + o.bundled,
	}
}

// held is all slots that are not free.
func (t tally) held() slots { return t.running.plus(t.leaving) }

// waits counts what tasks of a job may start now.
func waits(j *cluster.Job) (waiting slots, bundled int) {
	for o := range offersOf(j) {
		all := o.need.times(o.waiting)
		waiting = waiting.plus(all)
		if o.bundle != nil {
			bundled += all[0] + all[1]
		}
	}
	return waiting, bundled
}
