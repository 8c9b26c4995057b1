package cluster

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// forgets expects that a machine is forgotten, or that this is refused with the error.
func forgets(t *testing.T, s *State, name string, epoch int, refusal error) {
	t.Helper()
	before := dump(s)
	delta, err := s.Apply(Entry{At: 9, Command: ForgetMachine{name, epoch}})
	if !errors.Is(err, refusal) || (err == nil) != (refusal == nil) {
		t.Errorf("forgetting %s: %v, want %v", name, err, refusal)
	}
	if err != nil && dump(s) != before {
		t.Errorf("refused to forget %s and changed\n%s\nto\n%s", name, before, dump(s))
	}
	if err == nil && (!slices.Equal(delta.Machines, []string{name}) || s.View().Machine(name) != nil) {
		t.Errorf("forgot %s, delta %v, and it is %+v", name, delta.Machines, s.View().Machine(name))
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

func TestLostMachinesAreForgotten(t *testing.T) {
	s := New("1")
	for _, name := range []string{"a", "b", "c", "d"} {
		apply(t, s, JoinMachine{Name: name, Slots: Slots{1, 1}})
	}
	forgets(t, s, "b", 1, ErrRefused)
	forgets(t, s, "x", 1, ErrUnknown)
	apply(t, s, ExpireMachine{Name: "b", Epoch: 1}, ExpireMachine{Name: "c", Epoch: 1}, AdmitMachine{"c", true})
	if at := s.View().Machine("b").LostAt; at == 0 {
		t.Error("it is not known when it was lost")
	}
	forgets(t, s, "b", 2, ErrUnknown)
	forgets(t, s, "c", 1, ErrRefused) // an excluded machine must stay excluded
	forgets(t, s, "b", 1, nil)
	if got := free(s); !slices.Equal(got, []string{"a", "d"}) || s.View().aliveMachines() != 2 {
		t.Errorf("machines with free slots are %v, %d are there", got, s.View().aliveMachines())
	}
	apply(t, s, AdmitMachine{"c", false})
	forgets(t, s, "c", 1, nil)
	apply(t, s, JoinMachine{Name: "b", Slots: Slots{2, 0}})
	if b := s.View().Machine("b"); b.Epoch != 1 || b.index != 2 || b.LostAt != 0 || !slices.Equal(free(s), []string{"a", "d", "b"}) {
		t.Errorf("come back, it is %+v; free are %v", b, free(s))
	}
}

// TestMachinesStayThatAJobRefersTo loses a machine with output that only the job's commit
// needs, and a machine with a checkpoint, which is lost with it.
func TestMachinesStayThatAJobRefersTo(t *testing.T) {
	s := New("1")
	done, checkpointed := attemptAt(mapTask(0), 0), attemptAt(mapTask(1), 0)
	apply(t, s,
		JoinMachine{Name: "output", Slots: Slots{1, 0}}, JoinMachine{Name: "checkpoint", Slots: Slots{1, 0}}, JoinMachine{Name: "other", Slots: Slots{1, 0}},
		submit(2, 0), StartJob{job1}, StartAttempt{Task: done.Task, Machine: "output"}, StartAttempt{Task: checkpointed.Task, Machine: "checkpoint"},
		FinishAttempt{Attempt: done},
		CheckpointAttempt{Attempt: checkpointed, Checkpoint: Checkpoint{Path: "c"}},
		ExpireMachine{Name: "output", Epoch: 1}, ExpireMachine{Name: "checkpoint", Epoch: 1})
	forgets(t, s, "output", 1, ErrRefused)
	forgets(t, s, "checkpoint", 1, nil)
	again := attemptAt(mapTask(1), 1)
	apply(t, s, StartAttempt{Task: again.Task, Machine: "other"}, FinishAttempt{Attempt: again})
	forgets(t, s, "output", 1, ErrRefused)
	apply(t, s, CommitJob{job1})
	forgets(t, s, "output", 1, nil)
	if a := s.View().Job(job1).Stages[0].Tasks[0].Attempts[0]; a.Machine != "output" {
		t.Errorf("the job that is over knows no more where it ran: %+v", a)
	}
}

// TestDrainedMachinesAreForgotten drains a machine and loses it. It may be forgotten, unlike
// one that was only excluded.
func TestDrainedMachinesAreForgotten(t *testing.T) {
	s := New("1")
	apply(t, s, JoinMachine{Name: "drained", Slots: Slots{1, 1}}, JoinMachine{Name: "other", Slots: Slots{1, 1}}, DrainMachine{Name: "drained"})
	forgets(t, s, "drained", 1, ErrRefused)
	apply(t, s, ExpireMachine{Name: "drained", Epoch: 1})
	forgets(t, s, "drained", 1, nil)
}

// TestIndexOfDataDoesNotGrow runs many jobs on one machine: tasks of finished jobs leave the
// index of its data.
func TestIndexOfDataDoesNotGrow(t *testing.T) {
	s := New("1")
	apply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}})
	for n := range 20 {
		job := JobID{"1", n + 1}
		apply(t, s, submit(20, 0), StartJob{job})
		for i := range 20 {
			a := attemptAt(TaskID{job, "m", i}, 0)
			apply(t, s, StartAttempt{Task: a.Task, Machine: "n"})
			apply(t, s, FinishAttempt{Attempt: a, Output: pieceOf(s, a)})
		}
		apply(t, s, CommitJob{job})
	}
	if n := len(s.View().Machine("n").data.tasks); n > minDataLimit {
		t.Errorf("%d tasks are in the index, and none is unfinished", n)
	}
}

// TestOutputOfAForgottenMachineIsTakenBack checks that a forgotten machine that joins
// restores output that its task still lacks.
func TestOutputOfAForgottenMachineIsTakenBack(t *testing.T) {
	s := New("1")
	a := attemptAt(mapTask(0), 0)
	restore := RestoreOutput{Attempt: a}
	apply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}}, submit(1, 1), StartJob{job1},
		StartAttempt{Task: a.Task, Machine: "n"}, FinishAttempt{Attempt: a}, ExpireMachine{Name: "n", Epoch: 1})
	forgets(t, s, "n", 1, nil)
	if _, err := s.Apply(Entry{Command: restore}); !errors.Is(err, ErrRefused) {
		t.Errorf("output of a machine that is not there is taken: %v", err)
	}
	apply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}}, restore)
	if s.View().Job(job1).Stages[0].Finished != 1 {
		t.Error("its output is not taken")
	}
}

// TestFormerMachinesLeaveNoState gives machines a new name each time they join, and
// compares the state's machines with a list.
func TestFormerMachinesLeaveNoState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New("1")
		var there []string // dumb twin of the list of machines, in order of joining
		lost := make(map[string]bool)
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			name := fmt.Sprint("ec2-", n)
			if len(there) > 0 && rapid.IntRange(0, 2).Draw(t, "verb") > 0 {
				name = rapid.SampledFrom(there).Draw(t, "machine")
			}
			switch i := slices.Index(there, name); {
			case i < 0:
				mustDo(t, s, JoinMachine{Name: name, Slots: Slots{1, 1}})
				there = append(there, name)
			case lost[name]:
				mustDo(t, s, ForgetMachine{name, 1})
				there = slices.Delete(there, i, i+1)
			default:
				mustDo(t, s, ExpireMachine{Name: name, Epoch: 1})
				lost[name] = true
			}
			var got, free, wantFree []string
			for m := range s.View().Machines() {
				got = append(got, m.Name)
			}
			for m := range s.View().MachinesWithFree(MapSlot) {
				free = append(free, m.Name)
			}
			for _, name := range there {
				if !lost[name] {
					wantFree = append(wantFree, name)
				}
			}
			if err := s.CheckInvariants(); err != nil || !slices.Equal(got, there) || !slices.Equal(free, wantFree) {
				t.Fatalf("machines %v with %v free, want %v with %v: %v", got, free, there, wantFree, err)
			}
		}
	})
}

func mustDo(t *rapid.T, s *State, c Command) {
	if _, err := s.Apply(Entry{At: 1, Command: c}); err != nil {
		t.Fatalf("%T %+v: %v", c, c, err)
	}
}
