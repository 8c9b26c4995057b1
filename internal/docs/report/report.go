// Package report defines the document that `hammr run --report FILE` writes: one JSON object
// that describes a run of a job, for programs to read. docs/formats/report.md describes each
// field.
//
// The program that runs a job calls Check before any work. At the end, after success,
// failure and Ctrl-C alike, it makes a Report of the job's final status and calls WriteFile.
// Readers call Parse, which refuses versions that it does not know.
package report

import "github.com/hammr/hammr/internal/conf/counter"

// Version is the version of the document. It increases when a field changes its meaning or
// is removed, but not when a field is added.
const Version = 1

// UnknownOffset is the offset of a Failure whose record is unknown.
const UnknownOffset = -1

// State is the state of a job, a task or an attempt.
type State string

const (
	Running   State = "RUNNING"   // only in documents of unfinished jobs
	Succeeded State = "SUCCEEDED" // final
	Failed    State = "FAILED"    // final: the program or its environment caused an error
	Killed    State = "KILLED"    // final: a user killed it, or its result was not needed any more
	Preempted State = "PREEMPTED" // attempts only: it was preempted
)

// Kind is the kind of a task.
type Kind string

const (
	Map    Kind = "MAP"
	Reduce Kind = "REDUCE"
)

// Names of the phases, in order. A failed job has the phases that it reached, and one that runs has
// those that are over.
const (
	PhaseSetup  = "setup"  // from the submission to the first task
	PhaseMap    = "map"    // to the end of the last map
	PhaseReduce = "reduce" // to the end of the last reduce
	PhaseCommit = "commit" // to the end of the job
)

// Report is the whole document. An optional field is left out if it has the zero value;
// every other field is always present.
type Report struct {
	Version        int               `json:"version"`
	JobID          string            `json:"jobId"`
	Name           string            `json:"name"`
	State          State             `json:"state"`
	User           string            `json:"user"`
	Queue          string            `json:"queue"`                // name of the pool
	Priority       string            `json:"priority"`             // VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
	SubmitHost     string            `json:"submitHost,omitempty"` // machine from which the job was submitted
	WaitsFor       string            `json:"waitsFor,omitempty"`   // event that the job waits for; only in unfinished jobs
	StartTime      int64             `json:"startTime"`            // ms since the epoch
	FinishTime     int64             `json:"finishTime"`           // ms since the epoch; 0 while the job runs
	ElapsedSeconds float64           `json:"elapsedSeconds"`
	Phases         []Phase           `json:"phases"`
	Tasks          []Task            `json:"tasks"`
	Counters       counter.Values    `json:"counters"` // by display names
	Partitions     []Partition       `json:"partitions"`
	Configuration  map[string]string `json:"configuration"` // properties that were set
	Failures       []Failure         `json:"failures"`      // in order of time; the first is the cause of a failed job
}

// Phase is a part of the job's time.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Task is a task with all its attempts.
type Task struct {
	ID       string    `json:"id"`
	Type     Kind      `json:"type"`
	State    State     `json:"state"`
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one attempt at a task.
type Attempt struct {
	ID         string `json:"id"`
	Tasknode   string `json:"node"` // name of the tasknode
	State      State  `json:"state"`
	StartTime  int64  `json:"startTime"`  // ms since the epoch
	FinishTime int64  `json:"finishTime"` // ms since the epoch; 0 while it runs
}

// Partition describes the input of one reduce (in a map-only job, the output of one map). It
// shows skew.
type Partition struct {
	Partition int   `json:"partition"` // number, from 0
	Bytes     int64 `json:"bytes"`
	Records   int64 `json:"records"`
}

// Failure describes why an attempt failed.
type Failure struct {
	Task     string `json:"task"`
	Attempt  string `json:"attempt"`
	Tasknode string `json:"node"`
	Cause    string `json:"cause"`             // one sentence
	Input    string `json:"input"`             // full name of the input file, "" when unknown
	Offset   int64  `json:"offset"`            // offset of the record in the input, bytes; UnknownOffset when unknown
	Log      string `json:"log"`               // last lines of the attempt's log
	Stack    string `json:"stack,omitempty"`   // stack of the goroutine that panicked
	Skipped  bool   `json:"skipped,omitempty"` // the record was skipped and the attempt not charged
}
