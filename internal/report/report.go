// Package report is the document of `hammr run --report FILE`: one JSON object
// that says how a job went, for programs to read. docs/formats/report.md
// describes it field by field.
//
// Whoever runs a job calls Check before any work, makes a Report of the job's
// status when it has ended in whatever way (success, failure, Ctrl-C), and calls
// WriteFile.
// Readers of the document use Parse, which refuses versions that it does not
// know.
package report

import (
	"time"

	"github.com/hammr/hammr/internal/counter"
)

// Version is the version of the document that this package writes. It grows
// when a field changes its meaning or goes; fields may be added without.
const Version = 1

// UnknownOffset is the offset of a Failure whose record is not known.
const UnknownOffset = -1

// State is how a job, a task or an attempt stands.
type State string

const (
	Running   State = "RUNNING"   // only in documents of unfinished jobs
	Succeeded State = "SUCCEEDED" // final
	Failed    State = "FAILED"    // final: an error of the program or the world
	Killed    State = "KILLED"    // final: somebody asked for it, or its result was no longer needed
	Preempted State = "PREEMPTED" // attempts only: it made room for others
)

// Kind is what a task does.
type Kind string

const (
	Map    Kind = "MAP"
	Reduce Kind = "REDUCE"
)

// Names of the phases, in order. A job that fails has those that it reached.
const (
	PhaseSetup  = "setup"  // from the submission to the first task
	PhaseMap    = "map"    // to the end of the last map
	PhaseReduce = "reduce" // to the end of the last reduce
	PhaseCommit = "commit" // to the end of the job
)

// Report is the whole document.
type Report struct {
	Version        int               `json:"version"`
	JobID          string            `json:"jobId"`
	Name           string            `json:"name"`
	State          State             `json:"state"`
	User           string            `json:"user"`
	Queue          string            `json:"queue"`                // pool
	Priority       string            `json:"priority"`             // VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
	SubmitHost     string            `json:"submitHost,omitempty"` // name of the machine that it was submitted from
	WaitsFor       string            `json:"waitsFor,omitempty"`   // why nothing of it runs, in documents of unfinished jobs
	StartTime      int64             `json:"startTime"`            // ms since the epoch
	FinishTime     int64             `json:"finishTime"`           // ms since the epoch; 0 while the job runs
	ElapsedSeconds float64           `json:"elapsedSeconds"`
	Phases         []Phase           `json:"phases"`
	Tasks          []Task            `json:"tasks"`
	Counters       counter.Values    `json:"counters"` // by display names
	Partitions     []Partition       `json:"partitions"`
	Configuration  map[string]string `json:"configuration"` // what differs from the defaults
	Failures       []Failure         `json:"failures"`      // in order of time; the first is the cause
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

// Attempt is one try at a task.
type Attempt struct {
	ID         string `json:"id"`
	Node       string `json:"node"` // name of the tasknode
	State      State  `json:"state"`
	StartTime  int64  `json:"startTime"`  // ms since the epoch
	FinishTime int64  `json:"finishTime"` // ms since the epoch; 0 while it runs
}

// Partition is what one reduce took in, as it was shuffled (in a map-only job:
// what one map wrote): where skew shows.
type Partition struct {
	Partition int   `json:"partition"` // from 0
	Bytes     int64 `json:"bytes"`
	Records   int64 `json:"records"`
}

// Failure is why an attempt failed: its first cause.
type Failure struct {
	Task    string `json:"task"`
	Attempt string `json:"attempt"`
	Node    string `json:"node"`
	Cause   string `json:"cause"`             // one sentence
	Input   string `json:"input"`             // full name of the input file, "" when unknown
	Offset  int64  `json:"offset"`            // of the record in the input, bytes; UnknownOffset when unknown
	Log     string `json:"log"`               // last lines of the attempt's log
	Stack   string `json:"stack,omitempty"`   // of the goroutine that panicked
	Skipped bool   `json:"skipped,omitempty"` // the record was passed over and the attempt not charged
}

// Millis is a time as the document writes it; the zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// SetTimes sets the three fields that tell when the job ran.
func (r *Report) SetTimes(start, finish time.Time) {
	r.StartTime, r.FinishTime = Millis(start), Millis(finish)
	r.ElapsedSeconds = finish.Sub(start).Seconds()
}
