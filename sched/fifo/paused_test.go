package fifo

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched/schedtest"
)

// TestAPausedTaskPrefersItsCheckpointsMachine, and goes elsewhere at once when that
// has no slot for it.
func TestAPausedTaskPrefersItsCheckpointsMachine(t *testing.T) {
	w := schedtest.New(t)
	for _, name := range []string{"a", "b", "c"} {
		w.Join(name, 1, 1)
	}
	j := w.Run(schedtest.Spec(dag.MapReduce(1, 2)))
	w.Apply(cluster.FinishAttempt{Attempt: w.Start(j, 0, 0, "a"), Range: j.RangeOf(j.Stages[0].Tasks[0])})
	first, other := w.Start(j, 1, 0, "c"), w.Start(j, 1, 1, "a")
	w.Apply(cluster.PauseAttempt{Attempt: first})
	w.Apply(cluster.CheckpointAttempt{Attempt: first, Checkpoint: cluster.Checkpoint{Path: "p"}})
	starts := func() string {
		plan := w.Plan(new(Policy))
		if len(plan.Starts) != 1 || plan.Starts[0].Task != first.Task {
			t.Fatalf("plan %v", schedtest.Lines(plan))
		}
		return plan.Starts[0].Machine
	}
	if m := starts(); m != "c" {
		t.Errorf("it goes on on %s, its checkpoint is on c", m)
	}
	w.Apply(cluster.StartAttempt{Task: first.Task, Machine: "c"})
	again := j.Stages[1].Tasks[0].Attempts[1].ID
	w.Apply(cluster.PauseAttempt{Attempt: again})
	w.Apply(cluster.CheckpointAttempt{Attempt: again, Checkpoint: cluster.Checkpoint{Path: "q"}})
	w.Apply(cluster.PauseAttempt{Attempt: other})
	w.Apply(cluster.AdmitMachine{Name: "c", Excluded: true})
	if m := starts(); m != "b" {
		t.Errorf("it goes on on %s; b is the only one with a slot", m)
	}
}
