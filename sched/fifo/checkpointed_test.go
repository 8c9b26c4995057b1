package fifo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// TestCheckpointedTaskPrefersItsMachine checks that a checkpointed task resumes elsewhere at
// once if its machine has no free slot.
func TestCheckpointedTaskPrefersItsMachine(t *testing.T) {
	w := schedtest.New(t)
	for _, name := range []string{"a", "b", "c"} {
		w.Join(name, 1, 1)
	}
	j := w.Run(schedtest.Spec(dag.MapReduce(1, 2)))
	w.Apply(cluster.FinishAttempt{Attempt: w.Start(j, 0, 0, "a"), Range: j.RangeOf(j.Stages[0].Tasks[0])})
	first, other := w.Start(j, 1, 0, "c"), w.Start(j, 1, 1, "a")
	w.Apply(cluster.PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint})
	w.Apply(cluster.CheckpointAttempt{Attempt: first, Checkpoint: cluster.Checkpoint{Path: "p"}})
	starts := func() string {
		plan := w.Plan(new(Policy))
		if len(plan.Starts) != 1 || plan.Starts[0].Task != first.Task {
			t.Fatalf("plan %v", schedtest.Lines(plan))
		}
		return plan.Starts[0].Machine
	}
	if m := starts(); m != "c" {
		t.Errorf("it resumes on %s, its checkpoint is on c", m)
	}
	w.Apply(cluster.StartAttempt{Task: first.Task, Machine: "c"})
	again := j.Stages[1].Tasks[0].Attempts[1].ID
	w.Apply(cluster.PreemptAttempt{Attempt: again, Mode: preempt.Checkpoint})
	w.Apply(cluster.CheckpointAttempt{Attempt: again, Checkpoint: cluster.Checkpoint{Path: "q"}})
	w.Apply(cluster.PreemptAttempt{Attempt: other, Mode: preempt.Checkpoint})
	w.Apply(cluster.AdmitMachine{Name: "c", Excluded: true})
	if m := starts(); m != "b" {
		t.Errorf("it resumes on %s; b is the only one with a slot", m)
	}
}

// TestCheckpointedMapResumesOnItsMachine checks a map with a split on a and a checkpoint on
// c, in a cluster of four machines with a slot each.
func TestCheckpointedMapResumesOnItsMachine(t *testing.T) {
	expired := cluster.ExpireMachine{Name: "c", Epoch: 1}
	withOutput := spec(1, 0)
	withOutput.OutputDir = "/out"
	copied := &cluster.CheckpointCopy{Path: "/out/_temporary/job_1_0001/checkpoints/attempt_1_0001_m_000000_0/checkpoint"}
	all := func(plan ...string) [4][]string { return [4][]string{plan, plan, plan, plan} }
	for name, tt := range map[string]struct {
		copied *cluster.CheckpointCopy
		then   []cluster.Command
		busy   []string    // machines without a free slot
		want   [4][]string // beside placements
	}{
		"home is free":         {want: all("1m0@c rack")},
		"a copy is somewhere":  {copied: copied, want: all("1m0@c rack")},
		"its input's is taken": {busy: []string{"a"}, want: all("1m0@c rack")},
		"home is taken":        {busy: []string{"c"}, want: all("1m0@a local")},
		"both are":             {busy: []string{"a", "c"}, want: [4][]string{{"1m0@b rack"}, {"1m0@b rack"}, nil, {"1m0@b rack"}}},
		"home is lost":         {then: []cluster.Command{expired}, want: all("1m0@a local")},
		"the copy is left":     {copied: copied, then: []cluster.Command{expired}, want: all("1m0@a local")},
		"home is excluded":     {then: []cluster.Command{cluster.AdmitMachine{Name: "c", Excluded: true}}, want: all("1m0@a local")},
		"the machine of the checkpoint was restarted": {then: []cluster.Command{cluster.JoinMachine{Name: "c", Instance: "2", Slots: cluster.Slots{1, 0}}}, want: all("1m0@a local")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestCluster(t)
			for _, m := range []string{"a", "b", "c", "d"} {
				w.Join(m, 1, 0)
			}
			j := w.Run(withOutput, "a")
			first := w.Start(j, 0, 0, "c")
			w.Apply(cluster.PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint})
			w.Apply(cluster.CheckpointAttempt{Attempt: first, Checkpoint: cluster.Checkpoint{Path: "p", Copy: tt.copied}})
			other := w.Run(spec(len(tt.busy), 0))
			for n, m := range tt.busy {
				w.Start(other, 0, n, m)
			}
			for _, c := range tt.then {
				w.Apply(c)
			}
			for i, placement := range placements {
				w.wantPlan(placement, tt.want[i]...)
			}
		})
	}
}

// TestCheckpointedTasksAmongManyResumeOnTheirMachines checkpoints tasks that are not
// candidates by their number, nor by the location of their splits.
func TestCheckpointedTasksAmongManyResumeOnTheirMachines(t *testing.T) {
	for _, placement := range placements {
		if placement.Method == sched.None {
			continue // locality does not decide which tasks start
		}
		w := newTestCluster(t)
		for i := range 11 {
			w.Join(fmt.Sprintf("m%d", i), 3, 0)
		}
		j := w.Run(spec(5000, 0), slices.Repeat([]string{"m0"}, 5000)...)
		for i := range 4 {
			id := w.Start(j, 0, 4990+i, "m5")
			w.Apply(cluster.CheckpointAttempt{Attempt: id})
		}
		plan := w.plan(placement)
		for i := range 3 { // the fourth finds no free slot there
			if want := fmt.Sprintf("1m%d@m5 rack", 4990+i); !slices.Contains(plan, want) {
				t.Errorf("%+v: no %s in %q", placement, want, plan)
			}
		}
	}
}
