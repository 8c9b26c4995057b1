package cluster

import (
	"errors"
	"testing"
)

// twoMachines returns a job of two maps and a reduce whose maps have finished, one on each
// of the machines a and b.
func twoMachines(t *testing.T) *State {
	s := New("1")
	apply(t, s, joinOf("a", "first"), joinOf("b", "first"), submit(2, 1), StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "a"}, StartAttempt{Task: mapTask(1), Machine: "b"})
	finish(t, s, mapTask(0), 0)
	finish(t, s, mapTask(1), 0)
	return s
}

func joinOf(name, instance string, retained ...AttemptID) JoinMachine {
	return JoinMachine{Name: name, Instance: instance, Slots: Slots{2, 1}, Retained: retained}
}

func finish(t *testing.T, s *State, task TaskID, number int) {
	t.Helper()
	apply(t, s, FinishAttempt{Attempt: attemptAt(task, number), Output: Manifest{Bytes: 7}, Counters: []Counter{{CounterName{"g", "n"}, 5}}})
}

func wantTask(t *testing.T, s *State, id TaskID, state TaskState, winner int) {
	t.Helper()
	_, _, task, _ := s.View().Task(id)
	got := -1
	if task.Winner != nil {
		got = task.Winner.ID.Number
	}
	if task.State != state || got != winner {
		t.Errorf("%v is %v, winner %d; want %v, %d", id, task.State, got, state, winner)
	}
}

func TestOutputRetainedByARestartedTasknodeStays(t *testing.T) {
	s := twoMachines(t)
	apply(t, s, StartAttempt{Task: TaskID{job1, "r", 0}, Machine: "a"})
	delta := apply(t, s, joinOf("a", "second", attemptAt(mapTask(0), 0)))
	if len(delta.Revoked) != 0 {
		t.Errorf("revoked %v", delta.Revoked)
	}
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	wantTask(t, s, TaskID{job1, "r", 0}, TaskPending, -1) // its attempt is lost
	apply(t, s, joinOf("a", "third", attemptAt(mapTask(1), 0)))
	wantTask(t, s, mapTask(0), TaskPending, -1)
	wantTask(t, s, mapTask(1), TaskSucceeded, 0) // its output lies on the other machine
	late := joinOf("a", "fourth", attemptAt(mapTask(1), 0), attemptAt(mapTask(0), 0))
	if _, err := s.Apply(Entry{Command: late}); !errors.Is(err, ErrRefused) {
		t.Errorf("outputs out of order: %v", err)
	}
}

func TestOutputOfAReturningMachineIsRestored(t *testing.T) {
	s := twoMachines(t)
	restore := RestoreOutput{Attempt: attemptAt(mapTask(0), 0), Output: Manifest{Bytes: 7}, Counters: []Counter{{CounterName{"g", "n"}, 5}}}
	refused := func(when string) {
		t.Helper()
		if _, err := s.Apply(Entry{Command: restore}); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused("while it is there")
	before, end := dump(s), s.jobs[0].Stages[0].Tasks[0].Winner.EndedAt
	apply(t, s, ExpireMachine{Name: "a", Epoch: 1})
	wantTask(t, s, mapTask(0), TaskPending, -1)
	refused("while the machine is away")
	apply(t, s, joinOf("a", "first"))
	if _, err := s.Apply(Entry{At: end + 1000, Command: restore}); err != nil {
		t.Fatal(err)
	}
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	if got := s.jobs[0].Stages[0].Tasks[0].Winner.EndedAt; got != end {
		t.Errorf("it ended at %d, which was %d before its output was lost", got, end)
	}
	if j := s.jobs[0]; len(j.Counters(j.Stages...)) != 1 || j.Counters(j.Stages...)[0].Value != 10 || j.Stages[0].Killed != 0 {
		t.Errorf("counters %v, %d killed; before:\n%s", j.Counters(j.Stages...), j.Stages[0].Killed, before)
	}
	refused("a second time")
}

func TestFirstFinishedAttemptWinsOverARestoredOne(t *testing.T) {
	restore := RestoreOutput{Attempt: attemptAt(mapTask(0), 0), Output: Manifest{Bytes: 7}}
	away := func() *State {
		s := twoMachines(t)
		apply(t, s, ExpireMachine{Name: "a", Epoch: 1}, joinOf("a", "first"), StartAttempt{Task: mapTask(0), Machine: "b"})
		return s
	}
	s := away()
	delta := apply(t, s, restore)
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	if len(delta.OrdersChanged) != 1 || delta.OrdersChanged[0] != attemptAt(mapTask(0), 1) {
		t.Errorf("ordered to end: %v", delta.OrdersChanged)
	}
	s = away()
	finish(t, s, mapTask(0), 1)
	if _, err := s.Apply(Entry{Command: restore}); !errors.Is(err, ErrRefused) {
		t.Errorf("after another one: %v", err)
	}
	wantTask(t, s, mapTask(0), TaskSucceeded, 1)
}

func TestOutputFoundBadIsNotRestored(t *testing.T) {
	s := twoMachines(t)
	apply(t, s, LoseOutput{attemptAt(mapTask(0), 0), "its bytes have changed"})
	if _, err := s.Apply(Entry{Command: RestoreOutput{Attempt: attemptAt(mapTask(0), 0)}}); !errors.Is(err, ErrRefused) {
		t.Errorf("restored: %v", err)
	}
}
