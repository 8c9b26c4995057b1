package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestUnhealthyMachineGetsNoTasks records that a machine is unhealthy. Its attempt continues,
// also across a restart of the tasknode and a snapshot, and it gets tasks again when it is
// healthy.
func TestUnhealthyMachineGetsNoTasks(t *testing.T) {
	s := New("1")
	first, second := attemptAt(mapTask(0), 0), attemptAt(mapTask(1), 0)
	apply(t, s,
		JoinMachine{Name: "n", Instance: "i", Slots: Slots{2, 1}}, submit(2, 1), StartJob{job1},
		StartAttempt{Task: first.Task, Machine: "n"})
	if delta := apply(t, s, SetHealth{"n", "too hot"}); !slices.Equal(delta.Machines, []string{"n"}) {
		t.Errorf("machines that changed are %v", delta.Machines)
	}
	if delta := apply(t, s, SetHealth{"n", "still too hot"}); len(delta.Machines) != 0 {
		t.Errorf("machines that changed are %v, and only the reason did", delta.Machines)
	}
	n := s.View().Machine("n")
	if free(s) != nil || n.TakesTasks() || n.Unhealthy != "still too hot" || len(n.Attempts) != 1 {
		t.Errorf("unhealthy machine: free %v, %+v", free(s), n)
	}
	if _, err := s.Apply(Entry{Command: StartAttempt{Task: second.Task, Machine: "n"}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a task starts on an unhealthy machine: %v", err)
	}
	apply(t, s, FinishAttempt{Attempt: first}, JoinMachine{Name: "n", Instance: "i", Slots: Slots{3, 1}}, AdmitMachine{"n", true}, AdmitMachine{"n", false})
	if free(s) != nil {
		t.Errorf("free after it joined again: %v", free(s))
	}
	apply(t, s, SetHealth{"n", ""}, StartAttempt{Task: second.Task, Machine: "n"})
	if n.Slots != (Slots{3, 1}) {
		t.Errorf("healthy machine: %+v", n)
	}
	if _, err := s.Apply(Entry{Command: SetHealth{"x", ""}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown machine: %v", err)
	}
}

func TestHealthIsInTheSnapshot(t *testing.T) {
	s := New("1")
	apply(t, s, JoinMachine{Name: "n", Instance: "i", Slots: Slots{2, 1}}, SetHealth{"n", "too hot"})
	back, err := s.Snapshot().Restore()
	must.Do(t, err)
	if n := back.View().Machine("n"); n.Unhealthy != "too hot" || !n.Slots.IsZero() {
		t.Errorf("restored %+v", n)
	}
}
