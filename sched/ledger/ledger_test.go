package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// keeper is fifo with a ledger.
type keeper struct {
	*fifo.Policy
	Ledger
}

func (k *keeper) Reset(now int64, view sched.View) {
	k.Policy.Reset(now, view)
	k.Ledger.Reset(view.View)
}

func (k *keeper) Observe(now int64, view sched.View, delta cluster.Delta) {
	k.Policy.Observe(now, view, delta)
	k.Ledger.Observe(view.View, delta)
}

// TestObserveEqualsReset compares a ledger that has observed every change with one that has
// just been reset.
func TestObserveEqualsReset(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := &keeper{Policy: fifo.New(sched.Placement{})}
		life := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt, Policy: k}
		k.Reset(0, life.PolicyView())
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			life.Step()
			var fresh Ledger
			fresh.Reset(life.View())
			k.Slots(life.View())
			fresh.Slots(life.View())
			if diff := cmp.Diff(fresh, k.Ledger, cmp.AllowUnexported(Ledger{})); diff != "" {
				rt.Fatalf("what a ledger finds and what it has observed (-, +):\n%s", diff)
			}
		}
	})
}
