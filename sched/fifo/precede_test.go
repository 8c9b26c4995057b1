package fifo

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

func TestPrecedes(t *testing.T) {
	w := schedtest.New(t)
	s := schedtest.Spec(dag.MapReduce(1, 0))
	first, second := w.Run(s), w.Run(s)
	s.Priority = 1
	urgent := w.Run(s)
	p := New(sched.Placement{})
	p.Reset(w.Now, w.PolicyView())
	line := []*cluster.Job{urgent, first, second}
	for i, a := range line {
		for k, b := range line {
			if p.Precedes(w.Now, w.PolicyView(), cluster.MapSlot, a, b) != (i < k) {
				t.Errorf("%v before %v is not %v", a.ID, b.ID, i < k)
			}
		}
	}
	w.Apply(cluster.KillJob{Job: first.ID})
	p.Reset(w.Now, w.PolicyView())
	if p.Precedes(w.Now, w.PolicyView(), cluster.MapSlot, first, second) {
		t.Error("a job that is over precedes another")
	}
}
