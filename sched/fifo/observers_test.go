package fifo

import (
	"reflect"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// observers are two policies that observe the same commands. The first one decides like any
// policy. For the second only its copies decide, so it has no delay clocks: a clock starts
// when a policy decides, and a reset restarts it.
type observers struct {
	*Policy
	unasked *Policy
}

func newObservers(placement sched.Placement, now int64, view sched.View) observers {
	o := observers{New(placement), New(placement)}
	o.Policy.Reset(now, view)
	o.unasked.Reset(now, view)
	return o
}

// Observe implements sched.Policy.
func (o observers) Observe(now int64, view sched.View, delta cluster.Delta) {
	o.Policy.Observe(now, view, delta)
	o.unasked.Observe(now, view, delta)
}

// checkSame compares a policy that is reset with the one that decides or, if that has delay
// clocks, with the other. It returns the plan of the one that decides.
func (o observers) checkSame(rt *rapid.T, now int64, view sched.View) sched.Plan {
	plan := o.Decide(now, view)
	known, said := o.Policy, plan
	if o.placer.Method == sched.Delay {
		unasked := *o.unasked
		known, said = &unasked, unasked.Decide(now, view)
	}
	fresh := New(o.placer.Placement)
	fresh.Reset(now, view)
	if again := fresh.Decide(now, view); !reflect.DeepEqual(said, again) || known.NextWake() != fresh.NextWake() {
		rt.Fatalf("observing gives %q until %d, reset gives %q until %d", schedtest.Lines(said), known.NextWake(), schedtest.Lines(again), fresh.NextWake())
	}
	return plan
}
