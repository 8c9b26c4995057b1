package apidoc

import (
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Job describes a job in a list of jobs.
type Job struct {
	JobID      string   `json:"jobId"`
	Name       string   `json:"name"`
	User       string   `json:"user"`
	Queue      string   `json:"queue"`
	Priority   string   `json:"priority"`
	State      string   `json:"state"`               // one of JobStates
	Suspended  bool     `json:"suspended,omitempty"` // it gets no slots until it is resumed
	WaitsFor   string   `json:"waitsFor,omitempty"`
	Cause      string   `json:"cause,omitempty"` // why a job failed or was killed
	Maps       Progress `json:"maps"`
	Reduces    Progress `json:"reduces"`
	SubmitTime int64    `json:"submitTime"`
	StartTime  int64    `json:"startTime"`  // when the first task started; 0 before that
	FinishTime int64    `json:"finishTime"` // 0 if the job has not finished
	OutputDir  string   `json:"outputDir"`
}

// Progress is the progress of the tasks of one kind.
type Progress struct {
	Total    int32   `json:"total"`
	Done     int32   `json:"done"`
	Running  int32   `json:"running"`
	Fraction float64 `json:"fraction"`
}

// JobStates are Hadoop's states of jobs. A job does not leave the state at index
// FirstFinalState or a later one.
var JobStates = []string{"PREP", "RUNNING", "SUCCEEDED", "FAILED", "KILLED"}

const FirstFinalState = 2

// Suspended is the state that is shown to users for a suspended job or task. Hadoop has no
// such state: in a job's document a field next to the state says that the job is suspended.
const Suspended = "SUSPENDED"

// Jobs returns the documents of jobs.
func Jobs(jobs []*wire.JobStatus) []Job {
	out := []Job{}
	for _, j := range jobs {
		out = append(out, JobOf(j))
	}
	return out
}

// JobOf returns the document of a job.
func JobOf(j *wire.JobStatus) Job {
	return Job{
		JobID: j.JobId, Name: j.Name, User: j.User, Queue: j.Queue, Priority: j.Priority,
		State: JobState(j.State), Suspended: j.Suspended, WaitsFor: j.Reason, Cause: j.Cause,
		Maps:       Progress{j.Maps, j.MapsDone, j.MapsRunning, j.MapProgress},
		Reduces:    Progress{j.Reduces, j.ReducesDone, j.ReducesRunning, j.ReduceProgress},
		SubmitTime: j.SubmitTime, StartTime: j.StartTime, FinishTime: j.FinishTime, OutputDir: j.OutputDir,
	}
}

// JobState returns the state as one of JobStates. A job that commits or aborts is running.
func JobState(s wire.JobState) string {
	switch s {
	case wire.JobState_COMMITTING, wire.JobState_ABORTING:
		return wire.JobState_RUNNING.String()
	}
	return s.String()
}

// Report returns the document of a single job. It is equal to the document of --report.
func Report(s *wire.JobStatus) report.Report {
	doc := report.FromStatus(s, nil)
	doc.Counters.FillZeros(counter.Shape{Reduces: s.Reduces > 0})
	return doc
}

// Tasks returns the tasks of a job. A task may also be PENDING, CHECKPOINTED or SUSPENDED. A
// report has no such states, because it describes a finished job.
func Tasks(s *wire.JobStatus) []report.Task {
	tasks := Report(s).Tasks
	for i := range tasks {
		tasks[i].State = TaskState(s.Tasks[i].State, s.State.Final(), allSuspended(s.Tasks[i]))
		if tasks[i].Attempts == nil {
			tasks[i].Attempts = []report.Attempt{} // an empty list in JSON
		}
	}
	return tasks
}

// TaskState returns the state of a task as users see it, in a job that may be over. suspended says that it has
// running attempts and all of them are suspended.
func TaskState(state wire.TaskState, over, suspended bool) report.State {
	switch {
	case state == wire.TaskState_TASK_SUCCEEDED:
		return report.Succeeded
	case state == wire.TaskState_TASK_FAILED:
		return report.Failed
	case state == wire.TaskState_TASK_KILLED, over:
		return report.Killed
	case state == wire.TaskState_TASK_PENDING:
		return "PENDING"
	case state == wire.TaskState_TASK_CHECKPOINTED:
		return "CHECKPOINTED"
	case suspended:
		return Suspended
	}
	return report.Running
}

// allSuspended reports whether a task has running attempts and all of them are suspended.
func allSuspended(s *wire.TaskStatus) bool {
	suspended := false
	for _, a := range s.Attempts {
		if a.State == wire.AttemptState_ATTEMPT_RUNNING {
			if !a.Suspended {
				return false
			}
			suspended = true
		}
	}
	return suspended
}

// AttemptLog is one stream of an attempt's output.
type AttemptLog struct {
	Attempt  string `json:"attempt"`
	Tasknode string `json:"node"`   // tasknode
	Stream   string `json:"stream"` // stdout or stderr
	Text     string `json:"text"`
}
