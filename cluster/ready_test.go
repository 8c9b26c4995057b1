package cluster

import (
	"testing"

	"github.com/hammr/hammr/dag"
)

// TestReadyAt checks reduces that may start when two of three maps have finished.
func TestReadyAt(t *testing.T) {
	s := New("1")
	job := submit(3, 1)
	job.Spec.SlowStartPPM = 400_000
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{4, 4}}, job)
	loadSplits(s)
	j := s.jobs[0]
	maps, reduces := j.Stages[0], j.Stages[1]
	want := func(when string, atMaps, atReduces int64) {
		t.Helper()
		if m, r := j.ReadyAt(maps), j.ReadyAt(reduces); m != atMaps || r != atReduces {
			t.Errorf("%s: ready since %d and %d, want %d and %d", when, m, r, atMaps, atReduces)
		}
	}
	apply := func(at int64, c Command) {
		t.Helper()
		if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	want("before it began", 0, 0)
	apply(5, StartJob{job1})
	for n := range 3 {
		apply(6, StartAttempt{Task: mapTask(n), Machine: "n", Range: whole})
	}
	for i, n := range []int{2, 0, 1} {
		apply(int64(10+i), FinishAttempt{Attempt: AttemptID{Task: mapTask(n)}, Range: whole})
		want("maps have finished", 5, []int64{0, 11, 11}[i])
	}
}

// TestSlowStart checks stages that take map and reduce slots alternately. No task waits in a
// map slot, nor in any slot for tasks that may not start themselves.
func TestSlowStart(t *testing.T) {
	s := New("1")
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{4, 4}}, SubmitJob{Spec: JobSpec{
		Graph: dag.Graph{
			Stages: []dag.Stage{{Name: "read", Nodes: 1}, {Name: "sum", Nodes: 1}, {Name: "split", Nodes: 1, Slots: dag.SlotMap}, {Name: "top", Nodes: 1}},
			Edges:  []dag.Edge{{From: "read", To: "sum"}, {From: "sum", To: "split"}, {From: "split", To: "top"}},
		},
		MaxAttempts: [2]int{2, 2},
	}})
	loadSplits(s)
	j := s.jobs[0]
	want := func(when string, at ...int64) {
		t.Helper()
		for i, stage := range j.Stages {
			if ready := j.Ready(stage); ready != (at[i] > 0) || j.ReadyAt(stage) != at[i] {
				t.Errorf("%s: %s is ready: %v, since %d; want %d", when, stage.Name, ready, j.ReadyAt(stage), at[i])
			}
		}
	}
	apply := func(at int64, c Command) {
		t.Helper()
		if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(at int64, stage int) AttemptID {
		t.Helper()
		task := j.Stages[stage].Tasks[0]
		id := AttemptID{Task: task.ID, Number: len(task.Attempts)}
		apply(at, StartAttempt{Task: task.ID, Machine: "n", Range: j.RangeOf(task)})
		apply(at, FinishAttempt{Attempt: id, Range: j.RangeOf(task)})
		return id
	}
	apply(5, StartJob{job1})
	want("nothing is written", 5, 5, 0, 0)
	run(7, 0)
	want("what is read is written", 5, 5, 0, 0)
	sum := run(9, 1)
	want("sums are written", 5, 5, 9, 9)
	apply(11, LoseOutput{Attempt: sum, Cause: "test"})
	want("sums are lost", 5, 5, 0, 0)
	run(13, 1)
	run(15, 2)
	want("all is written", 5, 5, 13, 13)
}
