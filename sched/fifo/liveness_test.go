package fifo

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

func newRandomCluster(t *testing.T, seed uint64, placement sched.Placement) *schedtest.RandomCluster {
	return schedtest.NewRandomCluster(t, seed, New(placement))
}

// job submits a job of a graph, with slow start in millionths.
func job(g dag.Graph, slowStart int) cluster.JobSpec {
	s := schedtest.Spec(g)
	s.SlowStartPPM = slowStart
	return s
}

// TestMapTasksDoNotWaitInSlots starts a reduce early, which waits for maps. A later stage of
// another job must not take their slot to wait for reduces.
func TestMapTasksDoNotWaitInSlots(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 1)
	early := w.run(0, dag.MapReduce(2, 1))
	first := w.Start(early, 0, 0, "a")
	w.Start(early, 1, 0, "a")
	later := w.run(1, dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 1}, {Name: "reduce", Nodes: 1}, {Name: "top", Nodes: 1, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "map", To: "reduce"}, {From: "reduce", To: "top"}},
	})
	w.Apply(cluster.FinishAttempt{Attempt: first, Range: early.RangeOf(early.Stages[0].Tasks[0])})
	id := w.Start(later, 0, 0, "a")
	w.Apply(cluster.FinishAttempt{Attempt: id, Range: later.RangeOf(later.Stages[0].Tasks[0])})
	if got := w.whole(sched.Placement{}); !slices.Equal(got, []string{"1m.1@a"}) {
		t.Errorf("plan is %q: the reduces of both jobs wait for the other map", got)
	}
}
