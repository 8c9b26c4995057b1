package cluster

import (
	"slices"
	"testing"
)

// pausedMap is a job of one map that was paused on machine a, with another beside
// it.
func pausedMap(t *testing.T, c Checkpoint) (*State, *Task) {
	t.Helper()
	s := New("1")
	first := attemptAt(mapTask(0), 0)
	apply(t, s,
		JoinMachine{Name: "a", Instance: "1", Slots: [2]int{1, 0}}, JoinMachine{Name: "b", Slots: [2]int{1, 0}},
		submit(1, 0), StartJob{job1}, StartAttempt{Task: first.Task, Machine: "a"}, PauseAttempt{Attempt: first},
		CheckpointAttempt{Attempt: first, Checkpoint: c})
	task := s.View().Job(job1).Stages[0].Tasks[0]
	if task.State != TaskPaused || task.Checkpoint == nil || task.Checkpoint.Machine != "a" {
		t.Fatalf("%v, checkpoint %+v", task.State, task.Checkpoint)
	}
	return s, task
}

func TestACheckpointGoesWithItsMachine(t *testing.T) {
	held := []AttemptID{attemptAt(mapTask(0), 0)}
	copied := &CheckpointCopy{Path: "hdfs://h/c", Bytes: 1}
	for name, tt := range map[string]struct {
		copied *CheckpointCopy
		loss   Command
		state  TaskState
		on     string // the machine that has it then
	}{
		"lost":                            {nil, ExpireMachine{Name: "a", Epoch: 1}, TaskPending, ""},
		"started anew":                    {nil, JoinMachine{Name: "a", Instance: "2", Slots: [2]int{1, 0}}, TaskPending, ""},
		"started anew, but it is there":   {nil, JoinMachine{Name: "a", Instance: "2", Slots: [2]int{1, 0}, Held: held}, TaskPaused, "a"},
		"lost, but it was copied":         {copied, ExpireMachine{Name: "a", Epoch: 1}, TaskPaused, ""},
		"there, and it was copied":        {copied, JoinMachine{Name: "a", Instance: "2", Slots: [2]int{1, 0}, Held: held}, TaskPaused, "a"},
		"another one lost":                {nil, ExpireMachine{Name: "b", Epoch: 1}, TaskPaused, "a"},
		"the same joins again, as before": {nil, JoinMachine{Name: "a", Instance: "1", Slots: [2]int{1, 0}}, TaskPaused, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s, task := pausedMap(t, Checkpoint{Path: "c", Copy: tt.copied})
			apply(t, s, tt.loss)
			if task.State != tt.state || (task.Checkpoint != nil) != (tt.state == TaskPaused) {
				t.Fatalf("%v, checkpoint %+v", task.State, task.Checkpoint)
			}
			if task.Checkpoint != nil && task.Checkpoint.Machine != tt.on {
				t.Errorf("it lies on %q, want %q", task.Checkpoint.Machine, tt.on)
			}
			for _, m := range []string{"a", "b"} {
				if waits := slices.Collect(s.jobs[0].Stages[0].PausedOn(m)); (len(waits) == 1) != (m == tt.on) {
					t.Errorf("%d tasks are to go on from what %s has", len(waits), m)
				}
			}
			if err := s.CheckInvariants(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestABadCheckpointIsNobodysFault: it is dropped once, and whoever says so of an
// attempt that began anew is charged.
func TestABadCheckpointIsNobodysFault(t *testing.T) {
	s, task := pausedMap(t, Checkpoint{Path: "c"})
	bad := func(number int) FailAttempt {
		return FailAttempt{Attempt: attemptAt(mapTask(0), number), Failure: Failure{Cause: "checkpoint of no use"}, BadCheckpoint: true}
	}
	apply(t, s, StartAttempt{Task: task.ID, Machine: "b"}, bad(1))
	if task.State != TaskPending || task.Checkpoint != nil || task.Charged != 0 {
		t.Fatalf("%v, checkpoint %+v, charged %d", task.State, task.Checkpoint, task.Charged)
	}
	apply(t, s, StartAttempt{Task: task.ID, Machine: "b"}, bad(2))
	if task.Charged != 1 {
		t.Errorf("charged %d", task.Charged)
	}
}

// TestANewerCheckpointStays: what was wrong with the one before is not wrong with
// it.
func TestANewerCheckpointStays(t *testing.T) {
	s, task := pausedMap(t, Checkpoint{Path: "c"})
	second, third := attemptAt(mapTask(0), 1), attemptAt(mapTask(0), 2)
	apply(t, s, StartAttempt{Task: task.ID, Machine: "b"}, PauseAttempt{Attempt: second},
		CheckpointAttempt{Attempt: second, Checkpoint: Checkpoint{Path: "d"}}, StartAttempt{Task: task.ID, Machine: "a"})
	if a := task.Attempts[2]; a.From != 2 || task.Attempts[1].From != 1 || task.Attempts[0].From != 0 {
		t.Fatalf("attempts went on from %d, %d, %d", task.Attempts[0].From, task.Attempts[1].From, a.From)
	}
	apply(t, s, ExpireMachine{Name: "b", Epoch: 1})
	if task.Checkpoint != nil || task.State != TaskRunning {
		t.Fatalf("%v, checkpoint %+v", task.State, task.Checkpoint)
	}
	apply(t, s, FailAttempt{Attempt: third, Failure: Failure{Cause: "checkpoint of no use"}, BadCheckpoint: true})
	if task.Charged != 0 || task.State != TaskPending {
		t.Errorf("%v, charged %d", task.State, task.Charged)
	}
}

func TestADeclinedPauseMayBeAskedForAgain(t *testing.T) {
	s := New("1")
	id := attemptAt(mapTask(0), 0)
	apply(t, s, JoinMachine{Name: "a", Slots: [2]int{1, 0}}, submit(1, 0), StartJob{job1},
		StartAttempt{Task: id.Task, Machine: "a"}, PauseAttempt{Attempt: id, Split: true, Cause: "for others"}, DeclinePause{Attempt: id})
	_, _, a, _ := s.View().Attempt(id)
	if a.State != AttemptRunning || a.Pausing || a.Splitting || a.Cause != "" || a.DeclinedAt == 0 {
		t.Fatalf("attempt %+v", a)
	}
	if _, err := s.Apply(Entry{Command: DeclinePause{Attempt: id}}); err == nil {
		t.Error("declined twice")
	}
	apply(t, s, PauseAttempt{Attempt: id}, CheckpointAttempt{Attempt: id, Checkpoint: Checkpoint{Path: "c"}})
}
