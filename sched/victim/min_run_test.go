package victim

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

// TestRecentlyResumedAttemptsAreSpared checks attempts that were suspended, that resumed
// from a checkpoint, that run the rest of a split, and that are new.
func TestRecentlyResumedAttemptsAreSpared(t *testing.T) {
	s := newFixture(t, dag.MapReduce(9, 0))
	whole := dag.Range{End: dag.Position{Offset: 100}}
	run := func(n int) cluster.AttemptID {
		s.Apply(cluster.StartAttempt{Task: s.job.Stages[0].Tasks[n].ID, Machine: "m", Range: whole})
		return s.job.Stages[0].Tasks[n].Attempts[0].ID
	}
	suspended := run(0)
	s.Apply(cluster.PreemptAttempt{Attempt: suspended, Mode: preempt.Suspend})
	checkpointed := run(1)
	s.Apply(cluster.PreemptAttempt{Attempt: checkpointed, Mode: preempt.Checkpoint})
	s.Apply(cluster.CheckpointAttempt{Attempt: checkpointed, Checkpoint: cluster.Checkpoint{Path: "/c"}})
	s.Apply(cluster.StartAttempt{Task: checkpointed.Task, Machine: "m", Range: whole})
	cut := run(2)
	s.Apply(cluster.SplitTask{Attempt: cut, At: dag.Position{Offset: 50}})
	s.Apply(cluster.StartAttempt{Task: s.job.Stages[0].Tasks[9].ID, Machine: "m", Range: dag.Range{Start: dag.Position{Offset: 50}, End: whole.End}})
	s.Now += 5000
	s.Apply(cluster.ResumeAttempt{Attempt: suspended})
	resumed := s.Now
	for _, tt := range []struct {
		after  int64 // ms since the resumption
		config preempt.Config
		urgent bool
		want   string
		wake   int64 // ms since the resumption; 0 for never
	}{
		{after: 1, want: "[2]", wake: 10_000 - 5000 - 4},
		{after: 1, config: preempt.Config{MinRunMillis: 100}, want: "[9 2 1]", wake: 100},
		{after: 1, config: preempt.Config{MinRunMillis: -1}, want: "[9 2 1 0]"},
		{after: 1, urgent: true, want: "[9 2 1 0]"},
		{after: 6000, want: "[9 2 1]", wake: 10_000},
		{after: 10_000, want: "[9 2 1 0]"},
	} {
		s.Now = resumed + tt.after
		f := s.finder(tt.config)
		f.Urgent = tt.urgent
		want(t, "victims", numbers(s.among(f, cluster.MapSlot)), tt.want)
		if tt.wake > 0 {
			tt.wake += resumed
		}
		if f.Wake != tt.wake {
			t.Errorf("%+v: it wakes at %d", tt, f.Wake)
		}
	}
}

// TestDisallowedModes checks that a victim loses its slot only in modes that its job allows.
func TestDisallowedModes(t *testing.T) {
	for _, tt := range []struct {
		disallowed preempt.ModeSet
		want       preempt.Mode
	}{
		{0, preempt.Split}, {preempt.SetOf(preempt.Split), preempt.Checkpoint}, {preempt.SetOf(preempt.Split, preempt.Checkpoint), preempt.Suspend},
		{preempt.AllModes &^ preempt.SetOf(preempt.Kill), preempt.Kill}, {preempt.AllModes, ""},
	} {
		s := newFixture(t, dag.MapReduce(0, 0))
		spec := s.job.Spec
		spec.Graph, spec.DisallowedModes = dag.MapReduce(1, 0), []preempt.ModeSet{tt.disallowed}
		s.job = s.Run(spec)
		v := Victim{Attempt: s.Start(s.job, 0, 0, "m")}
		p, _ := s.finder(preempt.Config{Map: preempt.Split}).Take(v, "test")
		want(t, "taken", p.Mode, string(tt.want))
	}
}

// TestUnsplittableInputIsNotSplit checks a map whose input can only be read from its
// beginning.
func TestUnsplittableInputIsNotSplit(t *testing.T) {
	s := &fixture{Cluster: newFixture(t, dag.MapReduce(1, 0)).Cluster}
	id := s.Apply(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{1, 1}}}).Submitted
	must.Do(t, s.State.Load(id, []cluster.Split{{Bytes: 1, Whole: true}}))
	s.Apply(cluster.StartJob{Job: id})
	s.job = s.View().Job(id)
	v := Victim{Attempt: s.Start(s.job, 0, 0, "m")}
	p, _ := s.finder(preempt.Config{Map: preempt.Split}).Take(v, "test")
	want(t, "taken", p.Mode, string(preempt.Checkpoint))
}
