package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/preempt"
)

// checkpointedMap returns a job with a map that was checkpointed on machine a, and another
// map.
func checkpointedMap(t *testing.T, c Checkpoint) (*State, *Task) {
	t.Helper()
	s := New("1")
	first := attemptAt(mapTask(0), 0)
	apply(t, s,
		JoinMachine{Name: "a", Instance: "1", Slots: Slots{1, 0}}, JoinMachine{Name: "b", Slots: Slots{1, 0}},
		submit(1, 0), StartJob{job1}, StartAttempt{Task: first.Task, Machine: "a"}, PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint},
		CheckpointAttempt{Attempt: first, Checkpoint: c})
	task := s.View().Job(job1).Stages[0].Tasks[0]
	if task.State != TaskCheckpointed || task.Checkpoint == nil || task.Checkpoint.Machine != "a" {
		t.Fatalf("%v, checkpoint %+v", task.State, task.Checkpoint)
	}
	return s, task
}

func TestCheckpointIsLostWithItsMachine(t *testing.T) {
	retained := []AttemptID{attemptAt(mapTask(0), 0)}
	copied := copyOf(retained[0])
	for name, tt := range map[string]struct {
		copied *CheckpointCopy
		loss   Command
		state  TaskState
		on     string // machine that has the checkpoint afterwards
	}{
		"lost":                            {nil, ExpireMachine{Name: "a", Epoch: 1}, TaskPending, ""},
		"restarted":                       {nil, JoinMachine{Name: "a", Instance: "2", Slots: Slots{1, 0}}, TaskPending, ""},
		"restarted, but it is there":      {nil, JoinMachine{Name: "a", Instance: "2", Slots: Slots{1, 0}, Retained: retained}, TaskCheckpointed, "a"},
		"lost, but it was copied":         {copied, ExpireMachine{Name: "a", Epoch: 1}, TaskCheckpointed, ""},
		"there, and it was copied":        {copied, JoinMachine{Name: "a", Instance: "2", Slots: Slots{1, 0}, Retained: retained}, TaskCheckpointed, "a"},
		"another one lost":                {nil, ExpireMachine{Name: "b", Epoch: 1}, TaskCheckpointed, "a"},
		"the same joins again, as before": {nil, JoinMachine{Name: "a", Instance: "1", Slots: Slots{1, 0}}, TaskCheckpointed, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s, task := checkpointedMap(t, Checkpoint{Path: "c", Copy: tt.copied})
			apply(t, s, tt.loss)
			if task.State != tt.state || (task.Checkpoint != nil) != (tt.state == TaskCheckpointed) {
				t.Fatalf("%v, checkpoint %+v", task.State, task.Checkpoint)
			}
			if task.Checkpoint != nil && task.Checkpoint.Machine != tt.on {
				t.Errorf("it lies on %q, want %q", task.Checkpoint.Machine, tt.on)
			}
			for _, m := range []string{"a", "b"} {
				if waits := slices.Collect(s.jobs[0].Stages[0].CheckpointedOn(m)); (len(waits) == 1) != (m == tt.on) {
					t.Errorf("%d tasks are to resume from what %s has", len(waits), m)
				}
			}
			if err := s.CheckInvariants(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMoveCheckpoint checks that a task resumes from a copy of its checkpoint, as long as
// the copy is needed.
func TestMoveCheckpoint(t *testing.T) {
	first, second := attemptAt(mapTask(0), 0), attemptAt(mapTask(0), 1)
	start := StartAttempt{Task: first.Task, Machine: "b"}
	move := func(id AttemptID, machine string) MoveCheckpoint {
		return MoveCheckpoint{Attempt: id, Machine: machine, Path: "/" + machine + "/c", Bytes: 9, Checksum: 5}
	}
	for name, tt := range map[string]struct {
		before  []Command
		move    MoveCheckpoint
		problem error
	}{
		"waits":                              {move: move(first, "b")},
		"waits, and was moved":               {before: []Command{move(first, "c"), DrainMachine{Name: "c"}}, move: move(first, "b")},
		"waits, and another copy was first":  {before: []Command{move(first, "c")}, move: move(first, "b"), problem: ErrRefused},
		"waits, and needs no other place":    {before: []Command{AdmitMachine{Name: "a"}}, move: move(first, "b"), problem: ErrRefused},
		"goes back":                          {before: []Command{move(first, "b"), AdmitMachine{Name: "a"}, DrainMachine{Name: "b"}}, move: move(first, "a")},
		"has gone on from it":                {before: []Command{start}, move: move(first, "c")},
		"is of a job that is suspended":      {before: []Command{SuspendJob{Job: job1}}, move: move(first, "b")},
		"has a newer one":                    {before: []Command{start, PreemptAttempt{Attempt: second, Mode: preempt.Checkpoint}, CheckpointAttempt{Attempt: second}}, move: move(first, "c"), problem: ErrRefused},
		"has finished":                       {before: []Command{start, FinishAttempt{Attempt: second}}, move: move(first, "c"), problem: ErrRefused},
		"is of a job that is over":           {before: []Command{KillJob{Job: job1, Cause: "test"}}, move: move(first, "b"), problem: ErrRefused},
		"lost it":                            {before: []Command{ExpireMachine{Name: "a", Epoch: 1}}, move: move(first, "b"), problem: ErrRefused},
		"is not known":                       {move: move(attemptAt(mapTask(7), 0), "b"), problem: ErrUnknown},
		"waits, and the copy is nowhere":     {move: move(first, "d"), problem: ErrUnknown},
		"waits, and the copy is lost by now": {before: []Command{ExpireMachine{Name: "b", Epoch: 1}}, move: move(first, "b"), problem: ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			s, task := checkpointedMap(t, Checkpoint{Path: "c", MayMissInput: true})
			apply(t, s, JoinMachine{Name: "c", Slots: Slots{1, 0}}, DrainMachine{Name: "a"})
			apply(t, s, tt.before...)
			_, err := s.Apply(Entry{At: 50, Command: tt.move})
			if !errors.Is(err, tt.problem) || (err == nil) != (tt.problem == nil) {
				t.Fatalf("%v, want %v", err, tt.problem)
			}
			if problem := s.CheckInvariants(); problem != nil {
				t.Fatal(problem)
			}
			if err != nil {
				return
			}
			want := Checkpoint{Attempt: first, Machine: tt.move.Machine, Path: tt.move.Path, Bytes: 9, Checksum: 5, MayMissInput: true}
			if *task.Checkpoint != want || task.Attempts[0].DataMachine() != want.Machine {
				t.Errorf("it lies on %s as %+v", task.Attempts[0].DataMachine(), task.Checkpoint)
			}
			for _, left := range []string{"a", "b", "c"} {
				if _, there := s.View().NeededOn(s.View().Machine(left)); (len(there) == 1) != (left == want.Machine) {
					t.Errorf("left on %s is %v", left, there)
				}
			}
			retained := []AttemptID{first}
			apply(t, s, JoinMachine{Name: want.Machine, Instance: "new", Retained: retained, Slots: Slots{1, 0}})
			if task.Checkpoint == nil || task.Checkpoint.Machine != want.Machine {
				t.Errorf("with its machine restarted, it is %+v", task.Checkpoint)
			}
		})
	}
}

// TestResumeAfterTheCheckpointMoved starts an attempt, and moves its checkpoint before it reads
// it. The attempt fails, and the next one resumes from the copy.
func TestResumeAfterTheCheckpointMoved(t *testing.T) {
	s, task := checkpointedMap(t, Checkpoint{Path: "c"})
	bad := func(number int) FailAttempt {
		return FailAttempt{Attempt: attemptAt(mapTask(0), number), Failure: Failure{Cause: "checkpoint of no use"}, BadCheckpoint: true}
	}
	apply(t, s, JoinMachine{Name: "c", Slots: Slots{1, 0}}, StartAttempt{Task: task.ID, Machine: "b"}, DrainMachine{Name: "a"},
		MoveCheckpoint{Attempt: attemptAt(mapTask(0), 0), Machine: "c", Path: "d"}, ExpireMachine{Name: "a", Epoch: 1}, bad(1))
	if task.State != TaskCheckpointed || task.CheckpointMachine() != "c" || task.Charged != 0 {
		t.Fatalf("%v, checkpoint %+v, charged %d", task.State, task.Checkpoint, task.Charged)
	}
	apply(t, s, StartAttempt{Task: task.ID, Machine: "b"}, bad(2))
	if task.State != TaskPending || task.Charged != 0 {
		t.Errorf("%v, checkpoint %+v, charged %d", task.State, task.Checkpoint, task.Charged)
	}
}

// TestBadCheckpointChargesNoTask reports a bad checkpoint twice. It is dropped once; the
// second report comes from an attempt that started from the beginning, whose failure is
// charged.
func TestBadCheckpointChargesNoTask(t *testing.T) {
	s, task := checkpointedMap(t, Checkpoint{Path: "c"})
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

// TestANewerCheckpointStays checks that a report of a bad checkpoint does not drop the newer
// one that has replaced it.
func TestANewerCheckpointStays(t *testing.T) {
	s, task := checkpointedMap(t, Checkpoint{Path: "c"})
	second, third := attemptAt(mapTask(0), 1), attemptAt(mapTask(0), 2)
	apply(t, s, StartAttempt{Task: task.ID, Machine: "b"}, PreemptAttempt{Attempt: second, Mode: preempt.Checkpoint},
		CheckpointAttempt{Attempt: second, Checkpoint: Checkpoint{Path: "d"}}, StartAttempt{Task: task.ID, Machine: "a"})
	if a := task.Attempts[2]; a.From != 2 || task.Attempts[1].From != 1 || task.Attempts[0].From != 0 {
		t.Fatalf("attempts resumed from %d, %d, %d", task.Attempts[0].From, task.Attempts[1].From, a.From)
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

func TestDeclinedPreemptionMayBeOrderedAgain(t *testing.T) {
	s := New("1")
	id := attemptAt(mapTask(0), 0)
	apply(t, s, JoinMachine{Name: "a", Slots: Slots{1, 0}}, submit(1, 0), StartJob{job1},
		StartAttempt{Task: id.Task, Machine: "a"}, PreemptAttempt{Attempt: id, Cause: "for others", Mode: preempt.Split}, DeclinePreemption{Attempt: id})
	_, _, a, _ := s.View().Attempt(id)
	if !a.Active() || a.Preempting() || a.Splitting() || a.Cause != "" || a.DeclinedAt == 0 {
		t.Fatalf("attempt %+v", a)
	}
	if _, err := s.Apply(Entry{Command: DeclinePreemption{Attempt: id}}); err == nil {
		t.Error("declined twice")
	}
	apply(t, s, PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint}, CheckpointAttempt{Attempt: id, Checkpoint: Checkpoint{Path: "c"}})
}
