package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestARestoredStateReusesNoIDs continues a random history twice from one moment: as the
// original does until its masters are lost, and as the state that is restored from a snapshot of
// that moment. What the second starts has no name in common with what the first has started.
func TestARestoredStateReusesNoIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New("a_b")
		for range rapid.IntRange(0, 2).Draw(t, "restored before") {
			applyDrawn(t, s, 20)
			s = continued(t, s)
		}
		applyDrawn(t, s, 60)
		again := continued(t, s)
		lost := applyDrawn(t, s, 40)
		for name := range applyDrawn(t, again, 40) {
			if lost[name] {
				t.Fatalf("%s was started before the restore and after it", name)
			}
		}
		if data := encoded(t, again); !bytes.Equal(encoded(t, restored(t, data)), data) {
			t.Fatal("a snapshot of the restored state gives another state")
		}
	})
}

// continued returns the state that is restored from a snapshot of s.
func continued(t *rapid.T, s *State) *State {
	twin, err := s.Snapshot().Restore()
	must.Do(t, err)
	twin.MarkRestored(1)
	loadSplits(twin)
	if got, want := twin.View().Restores(), s.View().Restores()+1; got != want {
		t.Fatalf("restored %d times, want %d", got, want)
	}
	return twin
}

// applyDrawn applies up to n random commands. It returns the names of the jobs, attempts and
// incarnations of bundles that they have made.
func applyDrawn(t *rapid.T, s *State, n int) map[string]bool {
	made := make(map[string]bool)
	for range rapid.IntRange(0, n).Draw(t, "steps") {
		delta, err := s.Apply(Entry{At: 1, Command: drawCommand(t, s)})
		if problem := s.CheckInvariants(); problem != nil {
			t.Fatal(problem)
		}
		loadSplits(s)
		if err != nil {
			continue
		}
		if delta.Submitted != (JobID{}) {
			made[delta.Submitted.String()] = true
		}
		for _, id := range delta.Started {
			made[id.String()] = true
			_, stage, task, _ := s.View().Task(id.Task)
			if b := stage.Bundle; !stage.StartsAlone() {
				number := b.NumberOf(stage, task)
				made[fmt.Sprintf("%v bundle %d of class %d, incarnation %d", id.Task.Job, number, b.Index, b.Incarnation(number))] = true
			}
		}
	}
	return made
}

func TestAttemptsOfARestoredStateHaveHighNumbers(t *testing.T) {
	s := New("1")
	apply(t, s, joinOf("a", "first"), submit(2, 1), StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "a"})
	s, err := s.Snapshot().Restore()
	must.Do(t, err)
	s.MarkRestored(5)
	apply(t, s, ExitAttempt{Attempt: attemptAt(mapTask(0), 0)}, StartAttempt{Task: mapTask(0), Machine: "a"})
	if _, err := s.Apply(Entry{Command: KillAttempt{Attempt: attemptAt(mapTask(0), 1)}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("number 1 is free: %v", err)
	}
	s = restored(t, encoded(t, s))
	finish(t, s, mapTask(0), attemptsPerRestore)
	wantTask(t, s, mapTask(0), TaskSucceeded, attemptsPerRestore)
	if next := apply(t, s, submit(1, 0)).Submitted; next.String() != "job_1_1000001" {
		t.Errorf("the next job is %v", next)
	}
}

// TestNumbersOfManyAttemptsAndJobsAreNotReused restores a backup of a task with 1,400 attempts, of a bundle with as many
// starts, and of a cluster with nearly a million jobs. What the lost state has started since then has other names.
func TestNumbersOfManyAttemptsAndJobsAreNotReused(t *testing.T) {
	const many, lost = 1400, 400
	s, j := running(t, gangGraph(1))
	start := func(s *State, times int) {
		for range times {
			mustApply(t, s, bundleStart(s.jobs[0], 0, 0, "n0", "n1"), ExpireMachine{Name: "n0", Epoch: s.byName["n0"].Epoch}, JoinMachine{Name: "n0", Hosts: []string{"n0"}, Slots: Slots{4, 4}},
				ExpireMachine{Name: "n1", Epoch: s.byName["n1"].Epoch}, JoinMachine{Name: "n1", Hosts: []string{"n1"}, Slots: Slots{4, 4}})
		}
	}
	start(s, many)
	for _, submitted := range []int{1, 999_990} {
		s.Submitted = submitted
		again, err := s.Snapshot().Restore()
		must.Do(t, err)
		again.MarkRestored(1)
		loadSplits(again)
		start(again, 1)
		task := func(s *State) *Task { return s.jobs[0].Stages[0].Tasks[0] }
		attempt, incarnation := task(again).Attempts[many].ID.Number, again.jobs[0].Bundles[0].Incarnation(0)
		if newest := task(s).Attempts[many-1].ID.Number; attempt <= newest+lost || incarnation <= j.Bundles[0].Incarnation(0)+lost {
			t.Errorf("attempt %d and incarnation %d follow %d and %d", attempt, incarnation, newest, j.Bundles[0].Incarnation(0))
		}
		if next := apply(t, again, submit(1, 0)).Submitted; next.Number <= submitted+lost {
			t.Errorf("%v follows job %d", next, submitted)
		}
	}
}

// TestARestoredStateRefusesRepeatedSubmissions: a submission of the time between the backup and
// the restore may have been accepted and lost.
func TestARestoredStateRefusesRepeatedSubmissions(t *testing.T) {
	const restoredAt = 10_000_000
	s := New("1")
	first := Entry{At: restoredAt - 2000, Client: "c", Sequence: 1, Command: submit(1, 0)}
	if _, err := s.Apply(first); err != nil {
		t.Fatal(err)
	}
	s, err := s.Snapshot().Restore()
	must.Do(t, err)
	s.MarkRestored(restoredAt)
	repeated := submit(1, 0)
	repeated.Spec.FirstSentAt = restoredAt - 1000
	if _, err := s.Apply(Entry{At: restoredAt + 1, Client: "c", Sequence: 2, Command: repeated}); !errors.Is(err, ErrTooLate) {
		t.Errorf("a repeated submission: %v", err)
	}
	if _, err := s.Apply(Entry{At: restoredAt + 1, Client: "c", Sequence: 3, Command: submit(1, 0)}); err != nil {
		t.Errorf("a new submission: %v", err)
	}
}
