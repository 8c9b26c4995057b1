package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// trioGraph has one gang of three tasks in a row: a streams to b, and b to c.
func trioGraph() dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}, {Name: "c", Nodes: 1}},
		Edges: []dag.Edge{
			{From: "a", To: "b", Channel: dag.ChannelTCP, Connection: dag.OneToOne},
			{From: "b", To: "c", Channel: dag.ChannelTCP, Connection: dag.OneToOne},
		},
	}
}

// checkpointedGang returns a gang of three on n0, n1 and n2 that was checkpointed. The first
// task had finished by then, and the others have checkpoints on their machines.
func checkpointedGang(t *testing.T) (*State, *Job) {
	t.Helper()
	s, j := running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Cause: "others", Mode: preempt.Checkpoint})
	if got := orders(j); got != "checkpoint checkpoint checkpoint" {
		t.Fatalf("attempts are asked for %q", got)
	}
	mustApply(t, s, finishTask(j, 0, 0), checkpointOf(j, 1), checkpointOf(j, 2))
	wantStates(t, j, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED")
	return s, j
}

// checkpointOf reports the checkpoint of the newest attempt at a stage's first task.
func checkpointOf(j *Job, stage int) CheckpointAttempt {
	return CheckpointAttempt{Attempt: newest(j, stage, 0), Checkpoint: Checkpoint{Path: "c", Bytes: 7}}
}

// TestGangIsCheckpointedAsAWhole checks that each attempt keeps its slot until it has exited.
func TestGangIsCheckpointedAsAWhole(t *testing.T) {
	s, j := running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"))
	delta := apply(t, s, PreemptAttempt{Attempt: newest(j, 2, 0), Cause: "others", Mode: preempt.Split})
	if got := orders(j); got != "checkpoint checkpoint checkpoint" || len(delta.OrdersChanged) != 3 {
		t.Fatalf("attempts are asked for %q, delta: %v", got, delta.OrdersChanged)
	}
	wantRefused(t, s, "not Running", PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Checkpoint})
	wantRefused(t, s, "not Running", PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Suspend})
	for i, step := range []struct {
		command Command
		states  string
		used    string
		waiting []int
	}{
		{DeclinePreemption{newest(j, 0, 0)}, "RUNNING | RUNNING | RUNNING", "[1 0] [0 1] [0 1]", nil},
		{checkpointOf(j, 2), "RUNNING | RUNNING | CHECKPOINTED", "[1 0] [0 1] [0 0]", nil},
		{PreemptAttempt{Attempt: newest(j, 0, 0), Cause: "others", Mode: preempt.Checkpoint}, "RUNNING | RUNNING | CHECKPOINTED", "[1 0] [0 1] [0 0]", nil},
		{finishTask(j, 0, 0), "SUCCEEDED | RUNNING | CHECKPOINTED", "[0 0] [0 1] [0 0]", nil},
		{checkpointOf(j, 1), "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "[0 0] [0 0] [0 0]", []int{0}},
	} {
		mustApply(t, s, step.command)
		wantStates(t, j, step.states)
		v := s.View()
		used := fmt.Sprint([2]int(v.Machine("n0").Used), [2]int(v.Machine("n1").Used), [2]int(v.Machine("n2").Used))
		if got := j.WaitingBundles(j.Bundles[0]); used != step.used || !slices.Equal(got, step.waiting) {
			t.Errorf("step %d: slots used: %s, want %s; bundles %v wait, want %v", i, used, step.used, got, step.waiting)
		}
		if err := s.CheckInvariants(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if taken := j.Stages[1].Preemption; taken.Requested != 1 || taken.Checkpoints != 1 || taken.CheckpointBytes != 7 {
		t.Errorf("taken from b: %+v", taken)
	}
}

// TestGangIsNotCheckpointedOnAFullDisk checks a gang with a full disk on one machine. The
// gang is not checkpointed, unless other attempts of it have exited already. If its job is
// suspended, the gang is suspended.
func TestGangIsNotCheckpointedOnAFullDisk(t *testing.T) {
	s, j := running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"))
	joinWith := func(slots Slots) JoinMachine {
		m := s.View().Machine("n1")
		return JoinMachine{Name: "n1", Instance: m.Instance, Slots: slots, Hosts: m.Hosts}
	}
	had := s.View().Machine("n1").Offered
	mustApply(t, s, joinWith(Slots{}))
	preemption := PreemptAttempt{Attempt: newest(j, 2, 0), Cause: "others", Mode: preempt.Checkpoint}
	wantRefused(t, s, "a task on n1, which has no disk space for a checkpoint", preemption)
	mustApply(t, s, joinWith(had), preemption, checkpointOf(j, 2), DeclinePreemption{newest(j, 0, 0)}, DeclinePreemption{newest(j, 1, 0)},
		joinWith(Slots{}), PreemptAttempt{Attempt: newest(j, 0, 0), Cause: "others", Mode: preempt.Checkpoint})
	if got := orders(j); got != "checkpoint checkpoint" {
		t.Errorf("of a gang that is checkpointed in part, attempts are asked for %q", got)
	}
	s, j = running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"), joinWith(Slots{}), SuspendJob{Job: j.ID, Cause: "others"})
	if got := orders(j); got != "suspend suspend suspend" {
		t.Errorf("of a suspended job, attempts are asked for %q", got)
	}
}

// TestCheckpointedGangResumes resumes the tasks of a gang that have not finished.
func TestCheckpointedGangResumes(t *testing.T) {
	s, j := checkpointedGang(t)
	b := j.Bundles[0]
	if got := fmt.Sprint([2]int(b.NeedOf(0)), [2]int(b.Need()), len(b.WaitingIn(0))); got != "[0 2] [1 2] 2" {
		t.Errorf("it needs %s", got)
	}
	whole, half := bundleStart(j, 0, 0, "n0"), bundleStart(j, 0, 0, "n0")
	whole.Starts = append(whole.Starts, StartAttempt{Task: j.Stages[0].Tasks[0].ID, Machine: "n0"})
	half.Starts = half.Starts[:1]
	wantRefused(t, s, "3 starts for 2 tasks", whole)
	wantRefused(t, s, "1 starts for 2 tasks", half)
	mustApply(t, s, bundleStart(j, 0, 0, "n0"))
	wantStates(t, j, "SUCCEEDED | RUNNING | RUNNING")
	wantRefused(t, s, "bundle 0 is RUNNING", bundleStart(j, 0, 0, "n0"))
	for _, stage := range []int{1, 2} {
		if _, _, a, _ := s.View().Attempt(newest(j, stage, 0)); a.From != 1 || a.ResumedAt == 0 {
			t.Errorf("%v resumes from %d, since %d", a.ID, a.From, a.ResumedAt)
		}
	}
	if b.Incarnation(0) != 2 || j.Published(j.Stages[0].Tasks[0]) {
		t.Errorf("incarnation %d, published: %v", b.Incarnation(0), j.Published(j.Stages[0].Tasks[0]))
	}
	mustApply(t, s, finishTask(j, 1, 0), finishTask(j, 2, 0))
	if j.State != JobCommitting || !j.Published(j.Stages[0].Tasks[0]) {
		t.Errorf("the job is %v", j.State)
	}
}

// TestCheckpointedGangStartsOver loses or rejects one of the checkpoints of a gang.
func TestCheckpointedGangStartsOver(t *testing.T) {
	bad := FailAttempt{Failure: Failure{Cause: "checkpoint of no use"}, BadCheckpoint: true}
	for name, tt := range map[string]struct {
		resumes bool
		ends    func(j *Job) []Command
		cause   string // cause of the end of the attempt that had finished
	}{
		"a checkpoint is lost": {false, func(*Job) []Command { return []Command{ExpireMachine{Name: "n1", Epoch: 1}} }, "the checkpoint of task_1_0001_s1_000000 is lost"},
		"a tasknode is restarted": {false, func(*Job) []Command {
			return []Command{JoinMachine{Name: "n2", Instance: "2", Slots: Slots{1, 1}}}
		}, "the checkpoint of task_1_0001_s2_000000 is lost"},
		"a checkpoint is rejected": {true, func(j *Job) []Command { bad.Attempt = newest(j, 1, 0); return []Command{bad} }, "task_1_0001_s1_000000 ended"},
		"one fails whose checkpoint is lost": {true, func(j *Job) []Command {
			return []Command{ExpireMachine{Name: "n2", Epoch: 1}, FailAttempt{Attempt: newest(j, 2, 0)}}
		}, "task_1_0001_s2_000000 ended"},
		"one fails, and of another that has finished the checkpoint is lost": {true, func(j *Job) []Command {
			return []Command{finishTask(j, 1, 0), ExpireMachine{Name: "n1", Epoch: 1}, FailAttempt{Attempt: newest(j, 2, 0)}}
		}, "task_1_0001_s2_000000 ended"},
	} {
		t.Run(name, func(t *testing.T) {
			s, j := checkpointedGang(t)
			if tt.resumes {
				mustApply(t, s, bundleStart(j, 0, 0, "n0"))
			}
			mustApply(t, s, tt.ends(j)...)
			wantStates(t, j, "PENDING | PENDING | PENDING")
			for _, stage := range j.Stages {
				if stage.Tasks[0].Checkpoint != nil {
					t.Errorf("%v has a checkpoint", stage.Tasks[0].ID)
				}
			}
			if cause := j.Stages[0].Tasks[0].Attempts[0].Cause; !strings.Contains(cause, tt.cause) {
				t.Errorf("what had finished counts no more because %q", cause)
			}
			if j.Stages[1].Tasks[0].Charged != 0 {
				t.Error("a task is charged for its checkpoint")
			}
			wantSound(t, s)
		})
	}
}

// TestGangIsRolledBackToItsCheckpoint ends an attempt without a checkpoint: the gang is rolled back to
// its last consistent checkpoint.
func TestGangIsRolledBackToItsCheckpoint(t *testing.T) {
	preemption := func(j *Job) Command {
		return PreemptAttempt{Attempt: newest(j, 1, 0), Cause: "others", Mode: preempt.Checkpoint}
	}
	fail := func(j *Job) Command { return FailAttempt{Attempt: newest(j, 2, 0)} }
	for name, tt := range map[string]struct {
		do     []func(j *Job) Command // commands since the gang resumed, on n0
		states string
		from   string // attempts that wrote the checkpoints from which the last two resume
	}{
		"one fails":           {[]func(*Job) Command{fail}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"one is killed":       {[]func(*Job) Command{func(j *Job) Command { return KillAttempt{Attempt: newest(j, 1, 0)} }}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"its machine is lost": {[]func(*Job) Command{func(*Job) Command { return ExpireMachine{Name: "n0", Epoch: 1} }}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"another has finished since": {[]func(*Job) Command{
			func(j *Job) Command { return finishTask(j, 1, 0) }, fail,
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"another is checkpointed again": {[]func(*Job) Command{
			preemption, func(j *Job) Command { return checkpointOf(j, 1) }, fail,
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"another is checkpointed again, and that checkpoint lost": {[]func(*Job) Command{
			preemption, func(j *Job) Command { return checkpointOf(j, 1) }, func(*Job) Command { return ExpireMachine{Name: "n0", Epoch: 1} },
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
		"it is whole again": {[]func(*Job) Command{
			preemption, func(j *Job) Command { return checkpointOf(j, 1) }, func(j *Job) Command { return checkpointOf(j, 2) },
			func(j *Job) Command { return bundleStart(j, 0, 0, "n1", "n2") }, fail,
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "1 1"},
		"another had finished by the latest": {[]func(*Job) Command{
			preemption, func(j *Job) Command { return finishTask(j, 1, 0) }, func(j *Job) Command { return checkpointOf(j, 2) },
			func(j *Job) Command { return bundleStart(j, 0, 0, "n2") }, fail,
		}, "SUCCEEDED | SUCCEEDED | CHECKPOINTED", "- 1"},
		"again and again": {[]func(*Job) Command{
			fail, func(j *Job) Command { return bundleStart(j, 0, 0, "n0") }, func(j *Job) Command { return KillAttempt{Attempt: newest(j, 2, 0)} },
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED", "0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, j := checkpointedGang(t)
			mustApply(t, s, bundleStart(j, 0, 0, "n0"))
			for _, do := range tt.do {
				mustApply(t, s, do(j))
				wantSound(t, s)
			}
			wantStates(t, j, tt.states)
			if got := wroteFor(j.Stages[1]) + " " + wroteFor(j.Stages[2]); got != tt.from {
				t.Errorf("it resumes from what attempts %s wrote, want %s", got, tt.from)
			}
			mustApply(t, s, bundleStart(j, 0, 0, "n1", "n2"))
			for stage := range 3 {
				if j.Stages[stage].Tasks[0].State == TaskRunning {
					mustApply(t, s, finishTask(j, stage, 0))
				}
			}
			if wantSound(t, s); j.State != JobCommitting {
				t.Errorf("the job is %v", j.State)
			}
		})
	}
}

// wroteFor returns the number of the attempt that wrote the checkpoint of a stage's first
// task.
func wroteFor(s *Stage) string {
	if c := s.Tasks[0].Checkpoint; c != nil {
		return fmt.Sprint(c.Attempt.Number)
	}
	return "-"
}

// wantSound checks the invariants, and that a snapshot gives the same state.
func wantSound(t *testing.T, s *State) {
	t.Helper()
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
	if again := restored(t, encoded(t, s)); dump(again) != dump(s) {
		t.Error("a snapshot gives another state")
	}
}

// TestGangStartsOverDuringACheckpoint ends an attempt without a checkpoint while its gang
// is being checkpointed.
func TestGangStartsOverDuringACheckpoint(t *testing.T) {
	s, j := running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Checkpoint}, checkpointOf(j, 2))
	mustApply(t, s, KillAttempt{Attempt: newest(j, 0, 0)})
	wantStates(t, j, "PENDING | PENDING | PENDING")
	mustApply(t, s, checkpointOf(j, 1)) // checkpoint in progress before
	wantStates(t, j, "PENDING | PENDING | PENDING")
	if c := j.Stages[1].Tasks[0].Checkpoint; c != nil {
		t.Errorf("a late checkpoint counts: %+v", c)
	}
}

// TestGangContinuesWithoutACheckpointItHasRead loses a checkpoint after its
// attempt has resumed. No attempt of the gang is ordered to start over.
func TestGangContinuesWithoutACheckpointItHasRead(t *testing.T) {
	s, j := checkpointedGang(t)
	mustApply(t, s, bundleStart(j, 0, 0, "n0"), ExpireMachine{Name: "n1", Epoch: 1})
	wantStates(t, j, "SUCCEEDED | RUNNING | RUNNING")
	if c := j.Stages[1].Tasks[0].Checkpoint; c == nil || c.Machine != "" {
		t.Errorf("it resumes from %+v", c)
	}
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint}, checkpointOf(j, 1), checkpointOf(j, 2))
	wantStates(t, j, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED")
	if c := j.Stages[1].Tasks[0].Checkpoint; c.Machine != "n0" || c.Attempt != newest(j, 1, 0) {
		t.Errorf("it resumes from %+v", c)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// TestACheckpointOfAGangIsLeftInItsCopy checks that a checkpoint with a copy survives the
// loss of its machine.
func TestACheckpointOfAGangIsLeftInItsCopy(t *testing.T) {
	s, j := running(t, trioGraph())
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n1", "n2"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Checkpoint})
	for stage := range 3 {
		c := checkpointOf(j, stage)
		c.Checkpoint.Copy = copyOf(c.Attempt)
		mustApply(t, s, c)
	}
	mustApply(t, s, ExpireMachine{Name: "n1", Epoch: 1})
	wantStates(t, j, "CHECKPOINTED | CHECKPOINTED | CHECKPOINTED")
	if machineOfData := j.Stages[1].Tasks[0].CheckpointMachine(); machineOfData != "" {
		t.Errorf("its home is %q", machineOfData)
	}
}

// TestAllowedCheckpointsOfAGang refuses to checkpoint a gang that is suspended, or whose job rules it
// out for one of its stages.
func TestAllowedCheckpointsOfAGang(t *testing.T) {
	for _, disallowed := range []preempt.ModeSet{preempt.SetOf(preempt.Checkpoint), 0} {
		s := New("1")
		spec := submit(0, 0)
		spec.Spec.Graph, spec.Spec.DisallowedModes = trioGraph(), []preempt.ModeSet{0, 0, disallowed}
		mustApply(t, s, JoinMachine{Name: "n0", Slots: Slots{4, 4}}, spec)
		loadSplits(s)
		mustApply(t, s, StartJob{job1})
		j := s.jobs[0]
		mustApply(t, s, bundleStart(j, 0, 0, "n0"))
		if disallowed != 0 {
			wantRefused(t, s, "its job disallows it", PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Checkpoint})
			continue
		}
		mustApply(t, s, PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Suspend})
		wantRefused(t, s, "is Suspended", PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint})
	}
}

// TestSuspendedGangMigrates drains a machine of a suspended gang, or moves it by name: the
// whole gang is resumed and checkpointed together.
func TestSuspendedGangMigrates(t *testing.T) {
	for name, send := range map[string]func(j *Job) Command{
		"drained": func(*Job) Command { return DrainMachine{Name: "n2", Cause: "it is to be stopped"} },
		"moved":   func(j *Job) Command { return MoveAttempt{Attempt: newest(j, 1, 0), Cause: "full"} },
	} {
		s, j := suspendedGang(t)
		mustApply(t, s, send(j))
		if got := orders(j); got != "checkpoint checkpoint" {
			t.Errorf("%s: attempts are asked for %q", name, got)
		}
		mustApply(t, s, checkpointOf(j, 0), checkpointOf(j, 1))
		wantStates(t, j, "CHECKPOINTED | CHECKPOINTED | PENDING")
		if err := s.CheckInvariants(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRolledBackGangReadsLostOutputAgain rolls back a gang whose checkpoint may lack
// output that is lost.
func TestRolledBackGangReadsLostOutputAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		lose   func(j *Job) []Command // loses the machine that has the input of the gang
		states string
	}{
		"one that had it has finished": {func(j *Job) []Command {
			return []Command{finishTask(j, 1, 0), ExpireMachine{Name: "n2", Epoch: 1}}
		}, "PENDING | CHECKPOINTED | CHECKPOINTED"},
		"one that had it is checkpointed again": {func(j *Job) []Command {
			has := Fetched{Outputs: []AttemptID{newest(j, 0, 0)}, Readers: []AttemptID{newest(j, 1, 0)}}
			return []Command{PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint}, checkpointOf(j, 1), ExpireMachine{Name: "n2", Epoch: 1, Fetched: has}}
		}, "PENDING | CHECKPOINTED | CHECKPOINTED"},
		"one had it before it was checkpointed": {func(j *Job) []Command {
			now := newest(j, 1, 0)
			has := Fetched{Outputs: []AttemptID{newest(j, 0, 0)}, Readers: []AttemptID{{now.Task, 0}, now}}
			return []Command{ExpireMachine{Name: "n2", Epoch: 1, Fetched: has}}
		}, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED"},
	} {
		t.Run(name, func(t *testing.T) {
			g := trioGraph()
			g.Edges[0] = dag.Edge{From: "a", To: "b"}
			s, j := running(t, g)
			mustApply(t, s, StartAttempt{Task: j.Stages[0].Tasks[0].ID, Machine: "n2"})
			mustApply(t, s, finishTask(j, 0, 0), bundleStart(j, 1, 0, "n0", "n1"))
			mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint}, checkpointOf(j, 1), checkpointOf(j, 2), bundleStart(j, 1, 0, "n0", "n1"))
			mustApply(t, s, tt.lose(j)...)
			if a := j.Stages[0].Tasks[0]; a.Winner == nil || !a.Winner.Lost() {
				t.Errorf("what a has written is not gone: it is %v", a.State)
			}
			mustApply(t, s, FailAttempt{Attempt: newest(j, 2, 0)})
			wantStates(t, j, tt.states)
			wantSound(t, s)
		})
	}
}

// TestTheCutOfAGangIsMoved moves the consistent checkpoint of a resumed gang, which is
// rolled back to it after the machine has stopped.
func TestTheCutOfAGangIsMoved(t *testing.T) {
	s, j := checkpointedGang(t)
	mustApply(t, s, bundleStart(j, 0, 0, "n0", "n2"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Cause: "others", Mode: preempt.Checkpoint}, checkpointOf(j, 2))
	b, c := j.Stages[1].Tasks[0], j.Stages[2].Tasks[0]
	if _, left := s.View().NeededOn(s.View().Machine("n2")); len(left) != 2 || left[0].Writer != c.Checkpoint.Attempt || left[1].Writer != c.ConsistentCheckpoint.Attempt {
		t.Fatalf("left on n2: %v", left)
	}
	mustApply(t, s, DrainMachine{Name: "n1"}, DrainMachine{Name: "n2"})
	mustApply(t, s, MoveCheckpoint{Attempt: b.Checkpoint.Attempt, Machine: "n0", Path: "m"}, MoveCheckpoint{Attempt: c.ConsistentCheckpoint.Attempt, Machine: "n0", Path: "m"})
	mustApply(t, s, ExpireMachine{Name: "n1", Epoch: 1}, ExpireMachine{Name: "n2", Epoch: 1})
	wantStates(t, j, "SUCCEEDED | CHECKPOINTED | CHECKPOINTED")
	if b.CheckpointMachine() != "n0" || c.CheckpointMachine() != "n0" || b.Checkpoint.Path != "m" || c.Checkpoint.Path != "m" {
		t.Errorf("it resumes from %+v and %+v", b.Checkpoint, c.Checkpoint)
	}
}
