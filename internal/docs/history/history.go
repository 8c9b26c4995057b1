package history

import (
	"encoding/json"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// version is that of the format.
const version = 2

// Suffixes of the names of files.
const (
	IndexSuffix      = ".jsonl"     // of indexes
	CompressedSuffix = ".jsonl.zst" // of histories
)

// Job is the history of a job.
type Job struct {
	Status       *wire.JobStatus // with its tasks
	CounterNames []counter.ID    // of the lists in Tasks
	Tasks        []Task          // what Status.Tasks does not have, in the same order
	Events       apidoc.Events

	// Actions are what users have asked for, the latest last, since Events.Since.
	Actions []apidoc.UserAction
}

// Task is what a history has of a task besides its status.
type Task struct {
	Counters []int64   `json:"counters,omitempty"` // of the winner, parallel to Job.CounterNames; shorter if the last ones are 0
	Input    *Input    `json:"input,omitempty"`    // nil if the task reads no file, or it is unknown
	Bytes    int64     `json:"bytes,omitempty"`    // output of the winner
	Records  int64     `json:"records,omitempty"`  // output of the winner
	Attempts []Attempt `json:"attempts,omitempty"` // in the order of the attempts of the task
}

// Input is what a task reads.
type Input struct {
	File   string `json:"file"`            // full name of the first file
	Start  int64  `json:"start,omitempty"` // offset of the first byte in it
	Length int64  `json:"length"`          // bytes in all files
	Files  int    `json:"files"`           // number of files, or of parts of files
}

// Attempt is what a history has of an attempt besides its status.
type Attempt struct {
	Place   string `json:"place,omitempty"`   // where it started relative to its input: node, rack, other or any; "" if unknown
	From    int    `json:"from,omitempty"`    // number, counted from 1, of the attempt from whose checkpoint it resumed; 0 for none
	MovedTo string `json:"movedTo,omitempty"` // tasknode to which its output or checkpoint was moved; "" for none
	End     string `json:"end,omitempty"`     // event of package board that ended it, as finish or split
}

// line is one line of a history. The fields of a task are beside its message.
type line struct {
	Type         string              `json:"type"` // job, task, event or end
	Version      int                 `json:"version,omitempty"`
	Job          json.RawMessage     `json:"job,omitempty"`
	CounterNames [][2]string         `json:"counterNames,omitempty"` // group and name
	EventsSince  int64               `json:"eventsSince,omitempty"`  // apidoc.Events.Since
	Actions      []apidoc.UserAction `json:"actions,omitempty"`
	Task         json.RawMessage     `json:"task,omitempty"`
	taskFields                       // of a task
	Event        *apidoc.Event       `json:"event,omitempty"`
	Tasks        int                 `json:"tasks,omitempty"`  // number of lines of type task
	Events       int                 `json:"events,omitempty"` // number of lines of type event
}

// taskFields is a Task within a line.
type taskFields = Task

// SetEvents takes the events of the job, and the actions on it, from a snapshot of the board.
func (j *Job) SetEvents(s *board.Snapshot, id cluster.JobID) {
	events, err := s.Events(id, cluster.TaskID{})
	if err != nil { // the state does not have the job any more
		j.Events.Since = j.Status.FinishTime
		return
	}
	j.Events, j.Actions = events, s.Job(id).Actions
}

// Index returns the place of a task in Status.Tasks. The error wraps cluster.ErrUnknown.
func (j *Job) Index(task string) (int, error) {
	for i, t := range j.Status.Tasks {
		if t.Id == task {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: job %s has no task %.100q", cluster.ErrUnknown, j.Status.JobId, task)
}

// CountersOf returns the counters of the winner of the task at a place in Status.Tasks; nil if it has
// no winner.
func (j *Job) CountersOf(i int) counter.Values {
	if i >= len(j.Tasks) || j.Tasks[i].Counters == nil {
		return nil
	}
	sums := make(counter.Values)
	for n, v := range j.Tasks[i].Counters[:min(len(j.Tasks[i].Counters), len(j.CounterNames))] {
		sums.Add(j.CounterNames[n], v)
	}
	return sums
}

// CountersByType adds up the counters of the finished tasks of each type, MAP or REDUCE.
func (j *Job) CountersByType() map[string]counter.Values {
	totals := make(map[string][]int64)
	peaks := make([]bool, len(j.CounterNames))
	for n, id := range j.CounterNames {
		peaks[n] = id.IsPeak()
	}
	for i := range j.Tasks {
		kind := j.Status.Tasks[i].Kind.String()
		if totals[kind] == nil {
			totals[kind] = make([]int64, len(j.CounterNames))
		}
		for n, v := range j.Tasks[i].Counters {
			if n < len(j.CounterNames) {
				totals[kind][n] = counter.Total(totals[kind][n], v, peaks[n])
			}
		}
	}
	sums := make(map[string]counter.Values)
	for kind, values := range totals {
		sums[kind] = make(counter.Values)
		for n, v := range values {
			sums[kind].Add(j.CounterNames[n], v)
		}
	}
	return sums
}
