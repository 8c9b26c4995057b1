package workload

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// rumenJob has the fields of a job in a Rumen trace that the reader uses. Rumen is Hadoop's
// tool that extracts job traces from history files; its JSON has many more fields.
type rumenJob struct {
	JobID       rumenText   `json:"jobID"`
	JobName     rumenText   `json:"jobName"`
	User        rumenText   `json:"user"`
	Queue       rumenText   `json:"queue"`
	Priority    string      `json:"priority"`
	SubmitTime  int64       `json:"submitTime"`
	MapTasks    []rumenTask `json:"mapTasks"`
	ReduceTasks []rumenTask `json:"reduceTasks"`
	MapMB       int64       `json:"jobMapMB"`    // -1 if unknown
	ReduceMB    int64       `json:"jobReduceMB"` // -1 if unknown
}

// rumenTask is a map or a reduce with its attempts.
type rumenTask struct {
	TaskID     rumenText      `json:"taskID"`
	InputBytes int64          `json:"inputBytes"`
	Attempts   []rumenAttempt `json:"attempts"`
}

// rumenAttempt has times in ms since the epoch.
type rumenAttempt struct {
	Result             string `json:"result"`
	StartTime          int64  `json:"startTime"`
	ShuffleFinished    int64  `json:"shuffleFinished"`
	FinishTime         int64  `json:"finishTime"`
	HDFSBytesRead      int64  `json:"hdfsBytesRead"`
	ReduceShuffleBytes int64  `json:"reduceShuffleBytes"`
}

// rumenText is a string, which some versions wrap in an object.
type rumenText string

// UnmarshalJSON accepts "x", {"value": "x"} and null.
func (t *rumenText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var wrapped struct {
			Value string `json:"value"`
		}
		err := json.Unmarshal(b, &wrapped)
		*t = rumenText(wrapped.Value)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// ReadRumen reads the job trace that Hadoop's Rumen makes of logs: JSON objects in sequence
// or in an array, one for each job. A task takes the time of its successful attempt. source
// names the input in errors.
func ReadRumen(r io.Reader, source string, o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	h, in := newJobLog(source, &o), newJSONStream(r, source)
	for {
		raw, line, err := in.next()
		if errors.Is(err, io.EOF) {
			return h.workload()
		}
		if err != nil {
			return nil, errors.Join(h.err(), err)
		}
		var j rumenJob
		if err := unmarshal(raw, &j); err != nil {
			h.errorAt(line, "%v, in a job of a Rumen trace", err)
			continue
		}
		h.addRumen(line, &j)
	}
}

// addRumen adds a job. Its slow start is unknown.
func (h *jobLog) addRumen(line int, r *rumenJob) {
	priority, err := priorityOf(r.Priority)
	if err != nil {
		h.errorAt(line, "job %q: %v", r.JobID, err)
		return
	}
	j := loggedJob{Job: Job{
		ID: string(r.JobID), Name: string(r.JobName), User: string(r.User), Pool: string(r.Queue),
		Submit: r.SubmitTime, Priority: priority, SlowStart: -1, MemoryMB: [2]int64{max(0, r.MapMB), max(0, r.ReduceMB)},
	}}
	for _, t := range r.MapTasks {
		j.tasks = append(j.tasks, t.logged(false))
	}
	for _, t := range r.ReduceTasks {
		j.tasks = append(j.tasks, t.logged(true))
	}
	h.addLogged(line, j)
}

// logged converts the task. Rumen writes -1 for unknown values. The bytes of the successful
// attempt count, if it has any.
func (t *rumenTask) logged(reduce bool) loggedTask {
	p := loggedTask{id: string(t.TaskID), reduce: reduce, bytes: max(0, t.InputBytes)}
	for _, a := range t.Attempts {
		succeeded := strings.EqualFold(a.Result, "SUCCESS")
		p.attempts = append(p.attempts, loggedAttempt{
			succeeded: succeeded, start: max(0, a.StartTime), shuffledAt: max(0, a.ShuffleFinished), finish: max(0, a.FinishTime),
		})
		read := a.HDFSBytesRead
		if reduce {
			read = a.ReduceShuffleBytes
		}
		if succeeded {
			p.bytes = cmp.Or(max(0, read), p.bytes)
		}
	}
	return p
}
