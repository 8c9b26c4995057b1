package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// free returns the names of the machines with a free slot for maps.
func free(s *State) (names []string) {
	for m := range s.View().MachinesWithFree(MapSlot) {
		names = append(names, m.Name)
	}
	return names
}

// TestExcludedMachineEndsItsWork excludes a machine with an attempt and output, and checks
// that the machine is empty when the job has continued on other machines.
func TestExcludedMachineEndsItsWork(t *testing.T) {
	s := New("1")
	old, other := attemptAt(mapTask(0), 0), attemptAt(mapTask(1), 0)
	apply(t, s,
		JoinMachine{Name: "n", Instance: "i", Slots: Slots{2, 1}}, submit(2, 1), StartJob{job1},
		StartAttempt{Task: old.Task, Machine: "n"}, StartAttempt{Task: other.Task, Machine: "n"},
		FinishAttempt{Attempt: old})
	n := s.View().Machine("n")
	if delta := apply(t, s, AdmitMachine{"n", true}); !slices.Equal(delta.Machines, []string{"n"}) {
		t.Errorf("machines that changed are %v", delta.Machines)
	}
	if free(s) != nil || n.Free(MapSlot) > 0 || n.Free(ReduceSlot) > 0 || !isNeeded(s, n) {
		t.Errorf("after being excluded: free %v, %+v", free(s), n)
	}
	apply(t, s, FinishAttempt{Attempt: other})
	if !isNeeded(s, n) || s.View().Job(job1).Stages[0].Finished != 2 {
		t.Error("its output is not needed any more, or gone")
	}
	apply(t, s, JoinMachine{Name: "m", Slots: Slots{1, 1}})
	reduce := attemptAt(TaskID{job1, "r", 0}, 0)
	if _, err := s.Apply(Entry{Command: StartAttempt{Task: reduce.Task, Machine: "n"}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a task starts on an excluded machine: %v", err)
	}
	apply(t, s, StartAttempt{Task: reduce.Task, Machine: "m"}, FinishAttempt{Attempt: reduce})
	if isNeeded(s, n) {
		t.Error("something of it is needed though the job has its output")
	}
}

func TestExcludedMachineRejoinsExcluded(t *testing.T) {
	s := New("1")
	join := JoinMachine{Name: "n", Instance: "i", Slots: Slots{2, 1}}
	apply(t, s, join, AdmitMachine{"n", true}, ExpireMachine{Name: "n", Epoch: 1})
	join.Instance, join.Slots = "j", Slots{3, 1}
	apply(t, s, join)
	if n := s.View().Machine("n"); free(s) != nil || n.Lost || n.Offered != join.Slots {
		t.Errorf("it came back as %+v", n)
	}
	apply(t, s, AdmitMachine{"n", false})
	if n := s.View().Machine("n"); !slices.Equal(free(s), []string{"n"}) || n.Slots != join.Slots {
		t.Errorf("after being admitted: %+v", n)
	}
	apply(t, s, ExpireMachine{Name: "n", Epoch: 2}, AdmitMachine{"n", true}, AdmitMachine{"n", false})
	if free(s) != nil {
		t.Error("a lost machine got slots by being admitted")
	}
	if _, err := s.Apply(Entry{Command: AdmitMachine{"x", true}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown machine: %v", err)
	}
}

// TestCheckpointsAreRetained checks that a machine that has the checkpoint of a waiting task
// is needed.
func TestCheckpointsAreRetained(t *testing.T) {
	s := New("1")
	a := attemptAt(mapTask(0), 0)
	apply(t, s,
		JoinMachine{Name: "n", Slots: Slots{1, 1}}, submit(1, 0), StartJob{job1}, StartAttempt{Task: a.Task, Machine: "n"},
		AdmitMachine{"n", true}, CheckpointAttempt{Attempt: a, Checkpoint: Checkpoint{Path: "c"}})
	if !isNeeded(s, s.View().Machine("n")) {
		t.Error("no task misses the checkpoint")
	}
}

// isNeeded reports whether jobs need attempts, output or checkpoints on a machine.
func isNeeded(s *State, m *Machine) bool {
	outputs, checkpoints := s.View().NeededOn(m)
	return len(m.Attempts)+len(outputs)+len(checkpoints) > 0
}

// TestDrainUntilRestart drains machines for the time until their tasknodes restart, before and
// after other commands, and restarts them.
func TestDrainUntilRestart(t *testing.T) {
	drain := DrainMachine{Name: "n", Cause: "stops", UntilRestart: true}
	for name, c := range map[string]struct {
		commands []Command
		back     bool // the restarted machine gets tasks
	}{
		"drained":               {[]Command{drain}, true},
		"twice":                 {[]Command{drain, drain}, true},
		"and lost":              {[]Command{drain, ExpireMachine{Name: "n", Epoch: 1}}, true},
		"removed before":        {[]Command{AdmitMachine{"n", true}, drain}, false},
		"drained before":        {[]Command{DrainMachine{Name: "n"}, drain}, false},
		"removed after":         {[]Command{drain, AdmitMachine{"n", true}}, false},
		"drained for good":      {[]Command{drain, DrainMachine{Name: "n"}}, false},
		"admitted, and removed": {[]Command{drain, AdmitMachine{"n", false}, AdmitMachine{"n", true}}, false},
	} {
		s := New("1")
		join := JoinMachine{Name: "n", Instance: "i", Slots: Slots{1, 1}}
		mustApply(t, s, join, JoinMachine{Name: "other", Slots: Slots{1, 1}})
		mustApply(t, s, c.commands...)
		if lost := s.View().Machine("n").Lost; !lost {
			mustApply(t, s, join) // the same process connects again
		}
		if n := s.View().Machine("n"); n.TakesTasks() || !n.Excluded {
			t.Errorf("%s: before the restart %+v", name, n)
		}
		s, err := s.Snapshot().Restore()
		must.Do(t, err)
		join.Instance = "j"
		mustApply(t, s, join)
		if n := s.View().Machine("n"); n.TakesTasks() != c.back || n.UntilRestart {
			t.Errorf("%s: after the restart %+v, want tasks: %v", name, n, c.back)
		}
	}
}
