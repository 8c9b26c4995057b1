package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
)

// limitCase exceeds one limit, in a cluster whose limits are small.
type limitCase struct {
	what, property string
	value          string                          // of the property
	submit         func(s *JobSpec)                // changes a submission that is accepted; nil if the limit is on reports
	report         func(id AttemptID) []Counter    // of an attempt that finishes
	pieces         func(p Manifest) (all Manifest) // of an attempt that finishes
}

// limitCases has every limit of a job, the property that sets it, and how to exceed it.
func limitCases() []limitCase {
	names := func(n int, name func(i int) CounterName) func(AttemptID) []Counter {
		return func(AttemptID) (all []Counter) {
			for i := range n {
				all = append(all, Counter{name(i), 1})
			}
			return all
		}
	}
	return []limitCase{
		{what: "stages", property: "hammr.limits.stages", value: "3", submit: func(s *JobSpec) { s.Graph = dag.Graph{Stages: make([]dag.Stage, 4)} }},
		{what: "edges", property: "hammr.limits.stages", value: "3", submit: func(s *JobSpec) { s.Graph.Edges = make([]dag.Edge, 31) }},
		{what: "tasks of the job", property: "hammr.limits.tasks.per.job", value: "100", submit: func(s *JobSpec) { s.Graph = dag.MapReduce(70, 40) }},
		{what: "tasks of unfinished jobs", property: "hammr.limits.tasks", value: "150", submit: func(s *JobSpec) { s.Graph = dag.MapReduce(70, 20) }},
		{what: "unfinished jobs of user", property: "hammr.limits.jobs.per.user", value: "2", submit: func(s *JobSpec) { s.User = "a" }},
		{what: "unfinished jobs", property: "hammr.limits.jobs", value: "3"},
		{what: "splits", property: "hammr.limits.splits", value: "80", submit: func(s *JobSpec) { s.Graph = dag.MapReduce(81, 0) }},
		{what: "partitions", property: "hammr.limits.partitions", value: "50", submit: func(s *JobSpec) { s.Graph = dag.MapReduce(1, 51) }},
		{what: "bytes of the job's specification", property: "hammr.limits.spec.bytes", value: "2000", submit: func(s *JobSpec) { s.Document = make([]byte, 2001) }},
		{what: "bytes of the job's specification", property: "hammr.limits.spec.bytes", value: "2000", submit: func(s *JobSpec) { s.Name = strings.Repeat("x", 2001) }},
		{what: "counters", property: "hammr.limits.counters", value: "20", submit: func(s *JobSpec) { s.MaxCounters = 21 }},
		{what: "groups of counters", property: "hammr.limits.counter.groups", value: "5", submit: func(s *JobSpec) { s.MaxCounterGroups = 6 }},
		{what: "files written by an attempt", property: "hammr.limits.pieces", value: "1", pieces: func(m Manifest) Manifest {
			m.Pieces = append(m.Pieces, m.Pieces...)
			return m
		}},
		{what: "counters of the job", property: "mapreduce.job.counters.limit", value: "10", report: names(engineCounters+11, func(i int) CounterName { return CounterName{"g", fmt.Sprint(i)} })},
		{what: "groups of counters", property: "mapreduce.job.counters.groups.max", value: "4", report: names(engineCounterGroups+5, func(i int) CounterName { return CounterName{fmt.Sprint(i), "n"} })},
		{what: "counter", property: "mapreduce.job.counters.counter.name.max", value: "1024", report: names(1, func(int) CounterName { return CounterName{"g", strings.Repeat("x", 1025)} })},
		{what: "group of counters", property: "mapreduce.job.counters.group.name.max", value: "1024", report: names(1, func(int) CounterName { return CounterName{strings.Repeat("x", 1025), "n"} })},
	}
}

// limitedState returns a cluster with small limits and two jobs, of which the first runs an
// attempt.
func limitedState(t *testing.T) (*State, AttemptID) {
	s := New("1")
	first, id := submit(40, 0), attemptAt(mapTask(0), 0)
	first.Spec.User, first.Spec.MaxCounters, first.Spec.MaxCounterGroups = "a", 10, 4
	second := submit(40, 0)
	second.Spec.User = "a"
	apply(t, s, SetLimits{Limits{
		Stages: 3, TasksPerJob: 100, Tasks: 150, JobsPerUser: 2, Jobs: 3, Splits: 80, Partitions: 50, Pieces: 1, SpecBytes: 2000, Counters: 20, CounterGroups: 5,
	}}, JoinMachine{Name: "n", Slots: Slots{1, 1}}, first, second, StartJob{job1}, StartAttempt{Task: id.Task, Machine: "n", Range: whole})
	return s, id
}

// TestRefusalsNameTheLimit exceeds every limit. The refusal says what was limited, which property
// sets the limit, and its value: early, for a submission, and when it is applied.
func TestRefusalsNameTheLimit(t *testing.T) {
	cases := limitCases()
	for _, c := range cases {
		s, id := limitedState(t)
		check := func(when, text string) {
			t.Helper()
			for _, part := range []string{c.what, c.property, c.value} {
				if !strings.Contains(text, part) {
					t.Errorf("%s, %s: %q does not have %q", c.property, when, text, part)
				}
			}
		}
		if c.report != nil || c.pieces != nil {
			finish := FinishAttempt{Attempt: id, Range: whole}
			if c.report != nil {
				finish.Counters = c.report(id)
			} else {
				finish.Output = c.pieces(pieceOf(s, id))
			}
			apply(t, s, finish)
			j := s.View().Job(job1)
			if len(j.Failures) != 1 || j.Stages[0].Finished != 0 {
				t.Fatalf("%s: the report was accepted", c.property)
			}
			check("when the report is applied", j.Failures[0].Cause)
			continue
		}
		job := submit(10, 0)
		if c.submit == nil { // one job too many
			apply(t, s, job)
		} else {
			c.submit(&job.Spec)
		}
		before := dump(s)
		early := s.View().CheckLimits(job.Spec)
		_, err := s.Apply(Entry{Command: job})
		check("early", fmt.Sprint(early))
		check("when the submission is applied", fmt.Sprint(err))
		if dump(s) != before {
			t.Errorf("%s: the refused job changed the state", c.property)
		}
	}
	l := DefaultLimits()
	for _, each := range l.named() {
		if !slices.ContainsFunc(cases, func(c limitCase) bool { return c.property == each.property }) {
			t.Errorf("%s: no case exceeds it", each.property)
		}
	}
}
