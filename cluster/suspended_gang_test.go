package cluster

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// suspendedGang returns a job with a suspended gang of two on n2 and n0.
func suspendedGang(t *testing.T) (*State, *Job) {
	t.Helper()
	s, j := running(t, gangGraph(1))
	mustApply(t, s, bundleStart(j, 0, 0, "n2", "n0"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Cause: "others", Mode: preempt.Suspend})
	return s, j
}

// TestGangIsSuspendedAsAWhole takes the slots of both attempts, whichever is named, and gives
// back both or none.
func TestGangIsSuspendedAsAWhole(t *testing.T) {
	s, j := suspendedGang(t)
	v := s.View()
	one, two := newest(j, 0, 0), newest(j, 1, 0)
	_, _, a, _ := v.Attempt(one)
	if got := fmt.Sprint(orders(j), v.Machine("n0").Used, v.Machine("n2").Used, j.SuspendedBundles(j.Bundles[0]), len(v.GangOf(a))); got != "suspend suspend0 map 0 map [0] 2" {
		t.Errorf("suspended: %s", got)
	}
	wantRefused(t, s, "is Suspended", PreemptAttempt{Attempt: one, Mode: preempt.Suspend})

	mustApply(t, s, submit(1, 0))
	loadSplits(s)
	mustApply(t, s, StartJob{s.jobs[1].ID})
	other := TaskID{Job: s.jobs[1].ID, Stage: "m"}
	mustApply(t, s, StartAttempt{Task: other, Machine: "n2", Range: s.jobs[1].RangeOf(s.jobs[1].Stages[0].Tasks[0])})
	if v.CanResume(a) {
		t.Error("a gang resumes although one of its machines is full")
	}
	wantRefused(t, s, "no free map slot on n2", ResumeAttempt{Attempt: one})
	if !v.Machine("n0").Used.IsZero() {
		t.Error("half a gang resumes")
	}
	mustApply(t, s, KillAttempt{Attempt: AttemptID{Task: other}}, ExitAttempt{Attempt: AttemptID{Task: other}})
	mustApply(t, s, ResumeAttempt{Attempt: two})
	if got := fmt.Sprint(orders(j), v.Machine("n0").Used, v.Machine("n2").Used, j.SuspendedBundles(j.Bundles[0])); got != "nothing nothing1 reduce 1 map []" {
		t.Errorf("resumed: %s", got)
	}
}

// TestSuspendedGangEnds ends a suspended gang in each way; the gang gives back no slots that
// it does not occupy.
func TestSuspendedGangEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(j *Job) Command
		want string // states of the tasks
	}{
		"one is killed":        {func(j *Job) Command { return KillAttempt{Attempt: newest(j, 0, 0)} }, "PENDING | PENDING | PENDING"},
		"one fails":            {func(j *Job) Command { return FailAttempt{Attempt: newest(j, 0, 0)} }, "PENDING | PENDING | PENDING"},
		"a machine is lost":    {func(*Job) Command { return ExpireMachine{Name: "n2", Epoch: 1} }, "PENDING | PENDING | PENDING"},
		"one had finished":     {func(j *Job) Command { return finishTask(j, 1, 0) }, "RUNNING | SUCCEEDED | PENDING"},
		"a machine is drained": {func(*Job) Command { return DrainMachine{Name: "n2"} }, "RUNNING | RUNNING | PENDING"},
		"the job is killed":    {func(j *Job) Command { return KillJob{j.ID, "enough"} }, "KILLED | KILLED | KILLED"},
	} {
		t.Run(name, func(t *testing.T) {
			s, j := suspendedGang(t)
			mustApply(t, s, tt.end(j))
			wantStates(t, j, tt.want)
			if err := s.CheckInvariants(); err != nil {
				t.Error(err)
			}
			if again := restored(t, encoded(t, s)); dump(again) != dump(s) {
				t.Error("a snapshot gives another state")
			}
		})
	}
}

// TestSuspendedGangOfADrainedMachineResumes resumes a gang that cannot be checkpointed in
// the slots that it had on its drained machine.
func TestSuspendedGangOfADrainedMachineResumes(t *testing.T) {
	s, j := suspendedGang(t)
	for _, stage := range j.Bundles[0].Stages {
		stage.DisallowedModes |= preempt.SetOf(preempt.Checkpoint)
	}
	mustApply(t, s, DrainMachine{Name: "n2"}, ResumeAttempt{Attempt: newest(j, 0, 0)})
	if got := orders(j); got != "nothing nothing" {
		t.Errorf("attempts are asked for %q", got)
	}
}

// TestGroupOfSeveralSlotsIsSuspended suspends a group, which gives back all of its slots.
func TestGroupOfSeveralSlotsIsSuspended(t *testing.T) {
	s, j := running(t, dag.Graph{
		Stages: []dag.Stage{{Name: "parse", Nodes: 1}, {Name: "clean", Nodes: 1, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "parse", To: "clean", Channel: dag.ChannelSHM, Connection: dag.OneToOne}},
	})
	mustApply(t, s, bundleStart(j, 0, 0, "n1"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 0, 0), Mode: preempt.Suspend})
	if m := s.View().Machine("n1"); !m.Used.IsZero() || m.suspendedCount(MapSlot) != 1 {
		t.Errorf("used: %v, %d are suspended", m.Used, m.suspendedCount(MapSlot))
	}
	mustApply(t, s, ResumeAttempt{Attempt: newest(j, 0, 0)})
	if m := s.View().Machine("n1"); m.Used != (Slots{2, 0}) {
		t.Errorf("used: %v", m.Used)
	}
}
