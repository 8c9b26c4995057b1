package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
)

// TestJobsBeyondALimitAreRefused submits jobs that exceed one limit each. Nothing is
// allocated for them, so a graph of two billion tasks is refused at once.
func TestJobsBeyondALimitAreRefused(t *testing.T) {
	small := Limits{Stages: 3, TasksPerJob: 100, Tasks: 150, JobsPerUser: 2, Jobs: 3, Splits: 80, Partitions: 50, Pieces: 1, SpecBytes: 100, Counters: 20, CounterGroups: 5}
	many := dag.Graph{Stages: make([]dag.Stage, 4)}
	for want, change := range map[string]func(s *JobSpec){
		"2147483647 tasks of the job exceed the limit of 100; raise hammr.limits.tasks.per.job": func(s *JobSpec) { s.Graph = dag.MapReduce(dag.MaxNodes, 0) },
		"81 splits exceed the limit of 80; raise hammr.limits.splits":                           func(s *JobSpec) { s.Graph = dag.MapReduce(81, 0) },
		"51 partitions (reduces) exceed the limit of 50; raise hammr.limits.partitions":         func(s *JobSpec) { s.Graph = dag.MapReduce(1, 51) },
		"4 stages exceed the limit of 3; raise hammr.limits.stages":                             func(s *JobSpec) { s.Graph = many },
		"101 bytes of the job's specification exceed the limit of 100":                          func(s *JobSpec) { s.Document = make([]byte, 101) },
		"21 counters, which mapreduce.job.counters.limit allows the job, exceed":                func(s *JobSpec) { s.MaxCounters = 21 },
		`3 unfinished jobs of user "a" exceed the limit of 2; raise hammr.limits.jobs.per.user`: func(s *JobSpec) { s.User = "a" },
		"153 tasks of unfinished jobs exceed the limit of 150; raise hammr.limits.tasks in":     func(s *JobSpec) { s.Graph = dag.MapReduce(70, 3) },
	} {
		s := New("1")
		apply(t, s, SetLimits{small})
		for range 2 {
			spec := submit(40, 0)
			spec.Spec.User = "a"
			apply(t, s, spec)
		}
		if got := restored(t, encoded(t, s)).View().Limits(); got != small {
			t.Errorf("restored limits are %+v", got)
		}
		spec := submit(10, 0)
		change(&spec.Spec)
		before := dump(s)
		_, err := s.Apply(Entry{Command: spec})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) || dump(s) != before {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLongTextsAreRefused submits jobs with long texts. An output directory with millions of
// parents would occupy Apply for hours.
func TestLongTextsAreRefused(t *testing.T) {
	deep := strings.Repeat("/a", 1<<15)
	for want, change := range map[string]func(s *JobSpec){
		"name of 16385 bytes; a job's may have 16384":            func(s *JobSpec) { s.Name = strings.Repeat("n", 16385) },
		"user of 257 bytes; a job's may have 256":                func(s *JobSpec) { s.User = strings.Repeat("u", 257) },
		"pool of 257 bytes; a job's may have 256":                func(s *JobSpec) { s.Pool = strings.Repeat("p", 257) },
		"method of placement of 257 bytes; a job's may have 256": func(s *JobSpec) { s.Placement = strings.Repeat("p", 257) },
		"output directory of 4097 bytes; a job's may have 4096":  func(s *JobSpec) { s.OutputDir = strings.Repeat("d", 4097) },
		"output directory of 65536 bytes; a job's may have 4096": func(s *JobSpec) { s.OutputKey = deep },
	} {
		s := New("1")
		spec := submit(1, 0)
		change(&spec.Spec)
		wantRefused(t, s, want, spec)
		if err := s.View().CheckLimits(spec.Spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("early: %v, want %q", err, want)
		}
	}
	spec := submit(1, 0)
	spec.Spec.Name, spec.Spec.User, spec.Spec.OutputKey = strings.Repeat("n", 16384), strings.Repeat("u", 256), strings.Repeat("/a", 2048)
	apply(t, New("1"), spec)
}

func TestLimitsCountUnfinishedJobs(t *testing.T) {
	s := New("1")
	l := DefaultLimits()
	l.Jobs = 1
	apply(t, s, SetLimits{l}, submit(1, 0))
	wantRefused(t, s, "2 unfinished jobs exceed the limit of 1; raise hammr.limits.jobs in", submit(1, 0))
	apply(t, s, KillJob{job1, "x"}, CloseJob{job1}, submit(1, 0))
	l.Jobs = 0
	wantRefused(t, s, "limit hammr.limits.jobs of 0", SetLimits{l})
}

// TestTasksAreSplitUpToTheLimit bounds what a task can do to its job by splitting itself.
func TestTasksAreSplitUpToTheLimit(t *testing.T) {
	s := New("1")
	l := DefaultLimits()
	l.TasksPerJob = 2
	id := attemptAt(mapTask(0), 0)
	apply(t, s, SetLimits{l}, JoinMachine{Name: "n", Slots: Slots{2, 1}}, submit(1, 0), StartJob{job1}, StartAttempt{Task: id.Task, Machine: "n", Range: whole},
		SplitTask{id, dag.Position{Offset: 50}})
	wantRefused(t, s, "3 tasks of the job exceed the limit of 2", SplitTask{id, dag.Position{Offset: 20}})
}
