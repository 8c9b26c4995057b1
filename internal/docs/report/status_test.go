package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

func status(state wire.JobState) *wire.JobStatus {
	return &wire.JobStatus{
		JobId: "job_1_0001", Name: "sort", User: "ann", Queue: "nightly", Priority: "LOW", SubmitHost: "gateway", State: state, SubmitTime: 1000, StartTime: 1250, FinishTime: 3500,
		Counters: []*taskproc.Counter{{Group: counter.GroupFramework, Name: "Map input records", Value: 3}},
		Phases: []*wire.Phase{
			{Name: PhaseSetup, StartTime: 1000, FinishTime: 1250}, {Name: PhaseMap, StartTime: 1250},
		},
		Tasks: []*wire.TaskStatus{
			{Id: "task_1_0001_m_000000", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_FAILED,
				Attempts: []*wire.TaskStatus_Attempt{
					{Id: "a0", Machine: "n", State: wire.AttemptState_ATTEMPT_PREEMPTED, StartTime: 1250, FinishTime: 1300},
					{Id: "a1", Machine: "n", State: wire.AttemptState_ATTEMPT_FAILED, StartTime: 1300, FinishTime: 1400},
					{Id: "a2", Machine: "n", State: wire.AttemptState_ATTEMPT_RUNNING, StartTime: 1400},
				}},
			{Id: "task_1_0001_r_000000", Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_PENDING},
		},
		Failures: []*wire.FailureRecord{{
			Task: "task_1_0001_m_000000", Attempt: "a1", Machine: "n", Cause: "c", Stack: "s", Input: "i", Offset: -1,
			Log: "l", Time: 1400, Skipped: true,
		}},
		Partitions: []*wire.Partition{{Partition: 0, Bytes: 10, Records: 2}},
		Properties: map[string]string{"mapreduce.job.reduces": "1"},
	}
}

func TestFromStatus(t *testing.T) {
	properties := map[string]string{"mapreduce.job.reduces": "1"}
	mine := map[string]string{"mapreduce.job.reduces": "2"}
	want := Report{
		JobID: "job_1_0001", Name: "sort", User: "ann", Queue: "nightly", Priority: "LOW", SubmitHost: "gateway", State: Failed, StartTime: 1000, FinishTime: 3500, ElapsedSeconds: 2.5,
		Phases: []Phase{{PhaseSetup, 0.25}, {PhaseMap, 0}},
		Tasks: []Task{
			{ID: "task_1_0001_m_000000", Type: Map, State: Failed, Attempts: []Attempt{
				{"a0", "n", Preempted, 1250, 1300}, {"a1", "n", Failed, 1300, 1400}, {"a2", "n", Killed, 1400, 0},
			}},
			{ID: "task_1_0001_r_000000", Type: Reduce, State: Killed},
		},
		Counters:      counter.Values{counter.GroupFramework: {"Map input records": 3}},
		Partitions:    []Partition{{0, 10, 2}},
		Configuration: properties,
		Failures: []Failure{{
			Task: "task_1_0001_m_000000", Attempt: "a1", Tasknode: "n", Cause: "c", Stack: "s", Input: "i",
			Offset: UnknownOffset, Log: "l", Skipped: true,
		}},
	}
	if diff := cmp.Diff(want, FromStatus(status(wire.JobState_FAILED), nil)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	want.Configuration = mine
	if diff := cmp.Diff(want, FromStatus(status(wire.JobState_FAILED), mine)); diff != "" {
		t.Errorf("report of what was submitted here (-want +got):\n%s", diff)
	}
}

func TestEveryStatusGivesADocument(t *testing.T) {
	for number, name := range wire.JobState_name {
		for task := range wire.TaskState_name {
			for attempt := range wire.AttemptState_name {
				s := status(wire.JobState(number))
				s.Tasks[0].State = wire.TaskState(task)
				s.Tasks[0].Attempts[0].State = wire.AttemptState(attempt)
				data, err := FromStatus(s, nil).Marshal()
				must.Do(t, err)
				if _, err := Parse(data); err != nil {
					t.Fatalf("job %s: %v", name, err)
				}
			}
		}
	}
}

func TestRunningJobHasRunningTasks(t *testing.T) {
	for _, state := range []wire.JobState{wire.JobState_PREP, wire.JobState_RUNNING, wire.JobState_COMMITTING, wire.JobState_ABORTING} {
		r := FromStatus(status(state), nil)
		if r.State != Running || r.Tasks[1].State != Running || r.Tasks[0].Attempts[2].State != Running {
			t.Errorf("%s: job %s, pending task %s, running attempt %s", state, r.State, r.Tasks[1].State, r.Tasks[0].Attempts[2].State)
		}
	}
}

// TestNewFailures shows failures once, but the last failure of a job that has failed.
func TestNewFailures(t *testing.T) {
	for want, c := range map[string]struct {
		state wire.JobState
		shown int
		all   []string
	}{
		"[]":      {wire.JobState_FAILED, 0, nil},
		"[a]":     {wire.JobState_FAILED, 0, []string{"a", "b"}},
		"[a b]":   {wire.JobState_SUCCEEDED, 0, []string{"a", "b"}},
		"[b]":     {wire.JobState_RUNNING, 1, []string{"a", "b"}},
		"[c d]":   {wire.JobState_KILLED, 2, []string{"a", "b", "c", "d"}},
		"[] left": {wire.JobState_FAILED, 2, []string{"a", "b"}},
	} {
		s := &wire.JobStatus{State: c.state}
		for _, cause := range c.all {
			s.Failures = append(s.Failures, &wire.FailureRecord{Cause: cause})
		}
		got := []string{}
		for _, f := range NewFailures(s, c.shown) {
			got = append(got, f.Cause)
		}
		if text := fmt.Sprint(got); text != strings.TrimSuffix(want, " left") {
			t.Errorf("%v, %d of %v shown: new are %s, want %s", c.state, c.shown, c.all, text, want)
		}
	}
}

// TestPhasesOfARunningJob leaves out the phase that is not over: it would seem to take no time.
func TestPhasesOfARunningJob(t *testing.T) {
	s := &wire.JobStatus{State: wire.JobState_RUNNING, SubmitTime: 1000, Phases: []*wire.Phase{
		{Name: "setup", StartTime: 1000, FinishTime: 1250}, {Name: "map", StartTime: 1250},
	}}
	if got := FromStatus(s, nil).Phases; len(got) != 1 || got[0] != (Phase{"setup", .25}) {
		t.Errorf("phases are %v", got)
	}
}
