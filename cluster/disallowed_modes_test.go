package cluster

import (
	"errors"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

// ran returns a state in which map 0 and reduce 0 of a job run.
func ran(t *testing.T, change func(*JobSpec)) *State {
	t.Helper()
	s := New("1")
	job := submit(2, 2)
	if change != nil {
		change(&job.Spec)
	}
	apply(t, s, job, JoinMachine{Name: "a", Slots: Slots{2, 2}}, StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "a", Range: dag.Range{End: dag.Position{Offset: 100}}})
	return s
}

func TestDisallowedModesAreRefused(t *testing.T) {
	id := attemptAt(mapTask(0), 0)
	for _, tt := range []struct {
		disallowed preempt.ModeSet
		command    Command
		refused    bool
	}{
		{0, PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint}, false},
		{preempt.SetOf(preempt.Checkpoint), PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint}, true},
		{preempt.SetOf(preempt.Checkpoint), PreemptAttempt{Attempt: id, Mode: preempt.Split}, false},
		{preempt.SetOf(preempt.Split), PreemptAttempt{Attempt: id, Mode: preempt.Split}, false},
		{preempt.SetOf(preempt.Split, preempt.Checkpoint), PreemptAttempt{Attempt: id, Mode: preempt.Split}, true},
		{preempt.SetOf(preempt.Suspend), PreemptAttempt{Attempt: id, Mode: preempt.Suspend}, true},
		{preempt.SetOf(preempt.Checkpoint, preempt.Kill), PreemptAttempt{Attempt: id, Mode: preempt.Suspend}, false},
		{preempt.AllModes, KillAttempt{Attempt: id}, false}, // a plain kill is always allowed
	} {
		s := ran(t, func(spec *JobSpec) { spec.DisallowedModes = []preempt.ModeSet{tt.disallowed} })
		_, err := s.Apply(Entry{At: 5, Command: tt.command})
		if errors.Is(err, ErrRefused) != tt.refused {
			t.Errorf("%T with %#b disallowed: %v", tt.command, tt.disallowed, err)
		}
	}
}

func TestJobsThatBarWhatThereIsNot(t *testing.T) {
	for _, disallowed := range [][]preempt.ModeSet{{0, 0, preempt.SetOf(preempt.Kill)}, {1 << 7}} {
		job := submit(1, 1)
		job.Spec.DisallowedModes = disallowed
		if _, err := New("1").Apply(Entry{Command: job}); !errors.Is(err, ErrRefused) {
			t.Errorf("%v: %v", disallowed, err)
		}
	}
}

// TestWhatCannotBeSplit checks the modes that stages disallow even if their job allows them.
func TestWhatCannotBeSplit(t *testing.T) {
	chain := dag.MapReduce(4, 2)
	chain.Stages = append(chain.Stages, dag.Stage{Name: "last", Nodes: 1})
	chain.Edges = append(chain.Edges, dag.Edge{From: "reduce", To: "last", Connection: dag.Gather})
	piped := dag.MapReduce(4, 2)
	piped.Stages = append(piped.Stages, dag.Stage{Name: "last", Nodes: 2})
	piped.Edges = append(piped.Edges, dag.Edge{From: "reduce", To: "last", Channel: dag.ChannelSHM, Connection: dag.OneToOne})
	for name, tt := range map[string]struct {
		graph dag.Graph
		want  []preempt.ModeSet
	}{
		"maps and reduces":            {dag.MapReduce(4, 2), []preempt.ModeSet{0, preempt.SetOf(preempt.Split)}},
		"maps alone":                  {dag.MapReduce(4, 0), []preempt.ModeSet{0}},
		"a stage that others read":    {chain, []preempt.ModeSet{0, preempt.SetOf(preempt.Split), preempt.SetOf(preempt.Split)}},
		"stages that share a process": {piped, []preempt.ModeSet{0, preempt.SetOf(preempt.Split)}},
		"a gang":                      {gangGraph(1), []preempt.ModeSet{preempt.SetOf(preempt.Split), preempt.SetOf(preempt.Split), preempt.SetOf(preempt.Split)}},
	} {
		s := New("1")
		job := submit(1, 1)
		job.Spec.Graph = tt.graph
		apply(t, s, job)
		for i, stage := range s.View().Job(job1).Stages {
			if stage.DisallowedModes != tt.want[i] {
				t.Errorf("%s: stage %s bars %#b, want %#b", name, stage.Name, stage.DisallowedModes, tt.want[i])
			}
		}
	}
}

// TestTaken counts the preemptions of each mode.
func TestTaken(t *testing.T) {
	const start = 4 // start of the attempt, in ms
	id := attemptAt(mapTask(0), 0)
	half := dag.Range{End: dag.Position{Offset: 50}}
	for name, tt := range map[string]struct {
		commands []Entry
		want     PreemptionStats
		status   AttemptStatus
	}{
		"killed for others": {[]Entry{{At: start + 1000, Command: PreemptAttempt{Attempt: id, Mode: preempt.Kill}}},
			PreemptionStats{Requested: 1, LostMillis: 1000}, StatusPreempted},
		"killed by hand": {[]Entry{{At: start + 1000, Command: KillAttempt{Attempt: id}}}, PreemptionStats{}, StatusKilled},
		"checkpointed": {[]Entry{
			{At: start + 1000, Command: PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint}},
			{At: start + 1300, Command: CheckpointAttempt{Attempt: id, Checkpoint: Checkpoint{Path: "/c", Bytes: 7}}},
		}, PreemptionStats{Requested: 1, Checkpoints: 1, CheckpointBytes: 7, CheckpointMillis: 300, KeptMillis: 1300}, StatusPreempted},
		"split": {[]Entry{
			{At: start + 1000, Command: PreemptAttempt{Attempt: id, Mode: preempt.Split}},
			{At: start + 1100, Command: SplitTask{Attempt: id, At: half.End}},
			{At: start + 1100, Command: FinishAttempt{Attempt: id, Range: half}},
		}, PreemptionStats{Requested: 1, KeptMillis: 1100}, StatusSucceeded},
		"suspended": {[]Entry{
			{At: start + 1000, Command: PreemptAttempt{Attempt: id, Mode: preempt.Suspend}}, {At: start + 5000, Command: ResumeAttempt{Attempt: id}},
		}, PreemptionStats{Requested: 1, KeptMillis: 1000}, StatusRunning},
		"with a checkpoint for an answer": {[]Entry{
			{At: start + 1000, Command: PreemptAttempt{Attempt: id, Mode: preempt.Suspend}},
			{At: start + 1200, Command: CheckpointAttempt{Attempt: id, Checkpoint: Checkpoint{Path: "/c", Bytes: 7}}},
		}, PreemptionStats{Requested: 1, Checkpoints: 1, CheckpointBytes: 7, CheckpointMillis: 200, KeptMillis: 1000}, StatusPreempted},
	} {
		s := ran(t, nil)
		for _, e := range tt.commands {
			if _, err := s.Apply(e); err != nil {
				t.Fatalf("%s: %T: %v", name, e.Command, err)
			}
		}
		stage := s.View().Job(job1).Stages[0]
		a := stage.Tasks[0].Attempts[0]
		if stage.Preemption != tt.want || a.Status() != tt.status || stage.Failed != 0 {
			t.Errorf("%s: %+v, %v, %d failed; want %+v, %v", name, stage.Preemption, a.Status(), stage.Failed, tt.want, tt.status)
		}
		if err := s.CheckInvariants(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		twin, err := s.Snapshot().Restore()
		must.Do(t, err)
		if got := twin.View().Job(job1).Stages[0]; got.Preemption != stage.Preemption || *got.Tasks[0].Attempts[0] != *a {
			t.Errorf("%s: after a restart %+v, %+v", name, got.Preemption, *got.Tasks[0].Attempts[0])
		}
	}
}

// TestResumed checks which attempts resume earlier work.
func TestResumed(t *testing.T) {
	s := ran(t, nil)
	whole, half := dag.Range{End: dag.Position{Offset: 100}}, dag.Range{End: dag.Position{Offset: 50}}
	first := attemptAt(mapTask(0), 0)
	apply(t, s, PreemptAttempt{Attempt: first, Mode: preempt.Suspend}, ResumeAttempt{Attempt: first},
		PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint}, CheckpointAttempt{Attempt: first, Checkpoint: Checkpoint{Path: "/c"}},
		StartAttempt{Task: mapTask(0), Machine: "a", Range: whole},
		SplitTask{Attempt: attemptAt(mapTask(0), 1), At: half.End},
		StartAttempt{Task: mapTask(2), Machine: "a", Range: dag.Range{Start: half.End, End: whole.End}},
		PreemptAttempt{Attempt: attemptAt(mapTask(0), 1), Mode: preempt.Kill}, ExitAttempt{Attempt: attemptAt(mapTask(0), 1)},
		StartAttempt{Task: mapTask(1), Machine: "a", Range: whole})
	maps := s.View().Job(job1).Stages[0].Tasks
	for name, tt := range map[string]struct {
		attempt *Attempt
		resumed bool
	}{
		"was suspended":         {maps[0].Attempts[0], true},
		"has a checkpoint":      {maps[0].Attempts[1], true},
		"is a rest":             {maps[2].Attempts[0], true},
		"begins the first time": {maps[1].Attempts[0], false},
	} {
		if (tt.attempt.ResumedAt > 0) != tt.resumed {
			t.Errorf("one that %s was resumed at %d", name, tt.attempt.ResumedAt)
		}
	}
}
