package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// historyVersion is the version of docs/formats/history.md that is read here.
const historyVersion = 1

// slowStartProperty is how a job says when its reduces start.
const slowStartProperty = "mapreduce.job.reduce.slowstart.completedmaps"

// historyLine is a line of a job's history, or the head of a job's report, which
// has no type.
type historyLine struct {
	Type    string          `json:"type"`
	Version int             `json:"version"`
	Job     *historyJob     `json:"job"`
	Task    *historyTask    `json:"task"`
	Tasks   json.RawMessage `json:"tasks"` // a number at the end of a history, a list in a report
}

type historyJob struct {
	JobID      string            `json:"jobId"`
	Name       string            `json:"name"`
	User       string            `json:"user"`
	Queue      string            `json:"queue"`
	Priority   string            `json:"priority"`
	SubmitTime wholeNumber       `json:"submitTime"`
	FinishTime wholeNumber       `json:"finishTime"`
	InputBytes wholeNumber       `json:"inputBytes"`
	Properties map[string]string `json:"properties"`
	Partitions []struct {
		Partition int         `json:"partition"`
		Bytes     wholeNumber `json:"bytes"`
	} `json:"partitions"`
}

type historyTask struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Attempts []struct {
		State      string      `json:"state"`
		Node       string      `json:"node"`
		StartTime  wholeNumber `json:"startTime"`
		FinishTime wholeNumber `json:"finishTime"`
		Shuffled   wholeNumber `json:"shuffleFinishTime"`
		Wasted     bool        `json:"wasted"`
	} `json:"attempts"`
}

// wholeNumber is an integer of 64 bits, which protobuf writes as a text.
type wholeNumber int64

// UnmarshalJSON takes 7 and "7".
func (n *wholeNumber) UnmarshalJSON(b []byte) error {
	text := string(b)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	x, err := strconv.ParseInt(text, 10, 64)
	*n = wholeNumber(x)
	return err
}

// ReadHistory reads what this project's clusters have run: histories of jobs
// (docs/formats/history.md), one behind the other, and reports of jobs
// (docs/formats/report.md), in any mixture. Tasks take what the attempt that
// succeeded took. source names the input in errors.
func ReadHistory(r io.Reader, source string, o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	h := newJobLog(source, &o)
	if err := h.read(r); err != nil {
		return nil, errors.Join(h.err(), err)
	}
	return h.workload()
}

// read notes all jobs of one input.
func (h *jobLog) read(r io.Reader) error {
	in := newJSONStream(r, h.source)
	var open openHistory
	for {
		raw, line, err := in.next()
		if errors.Is(err, io.EOF) && open.job != nil {
			return fmt.Errorf("%s:%d: history of job %q without its end line", h.source, open.line, open.job.ID)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := h.line(&open, line, raw); err != nil {
			return fmt.Errorf("%s:%d: %w", h.source, line, err)
		}
	}
}

// openHistory is the history whose end is not read yet.
type openHistory struct {
	line       int        // of its head
	job        *loggedJob // nil between two histories
	partitions []int64    // bytes, by number
	input      int64      // bytes of all maps
}

// line takes one line of a history, or a report.
func (h *jobLog) line(open *openHistory, n int, raw json.RawMessage) error {
	var l historyLine
	if err := unmarshal(raw, &l); err != nil {
		return err
	}
	switch {
	case l.Type == "" && open.job == nil:
		return h.addReport(n, raw)
	case l.Type == "job" && open.job == nil && l.Job != nil:
		if l.Version != historyVersion {
			return fmt.Errorf("version %d of a history, expected %d", l.Version, historyVersion)
		}
		return open.begin(n, l.Job)
	case l.Type == "task" && open.job != nil && l.Task != nil:
		return open.addTask(l.Task)
	case l.Type == "end" && open.job != nil:
		if told := string(l.Tasks); told != strconv.Itoa(len(open.job.tasks)) && (told != "" || len(open.job.tasks) > 0) {
			return fmt.Errorf("%d lines about tasks, expected %q as the end line tells", len(open.job.tasks), told)
		}
		open.close()
		h.addLogged(open.line, *open.job)
		*open = openHistory{}
		return nil
	}
	return fmt.Errorf("a line of type %q, expected %s", l.Type, open.expected())
}

func (o *openHistory) expected() string {
	if o.job == nil {
		return "a job's first line or a report"
	}
	return "a task or the end of job " + strconv.Quote(o.job.ID)
}

func (o *openHistory) begin(line int, j *historyJob) error {
	priority, err := priorityOf(j.Priority)
	if err != nil {
		return err
	}
	slowStart, err := slowStartOf(j.Properties)
	if err != nil {
		return err
	}
	*o = openHistory{line: line, input: int64(j.InputBytes), job: &loggedJob{finish: int64(j.FinishTime), Job: Job{
		ID: j.JobID, Name: j.Name, User: j.User, Pool: j.Queue, Priority: priority, Submit: int64(j.SubmitTime), SlowStart: slowStart,
	}}}
	for _, p := range j.Partitions {
		o.partitions = appendPartition(o.partitions, p.Partition, int64(p.Bytes))
	}
	return nil
}

func (o *openHistory) addTask(t *historyTask) error {
	if t.Kind != "MAP" && t.Kind != "REDUCE" {
		return fmt.Errorf("task %q of kind %q, expected MAP or REDUCE", t.ID, t.Kind)
	}
	p := loggedTask{id: t.ID, reduce: t.Kind == "REDUCE"}
	for _, a := range t.Attempts {
		p.attempts = append(p.attempts, loggedAttempt{
			succeeded: a.State == "ATTEMPT_SUCCEEDED", checkpointed: a.State == "ATTEMPT_PREEMPTED" && !a.Wasted,
			start: int64(a.StartTime), finish: int64(a.FinishTime), shuffledAt: int64(a.Shuffled), machine: a.Node,
		})
	}
	o.job.tasks = append(o.job.tasks, p)
	return nil
}

// close spreads the bytes over the tasks: equal parts of the input to the maps,
// to each reduce its partition.
func (o *openHistory) close() { spreadBytes(o.job, o.input, o.partitions) }

// slowStartOf is what a job's properties say, or negative.
func slowStartOf(properties map[string]string) (float64, error) {
	text, found := properties[slowStartProperty]
	if !found {
		return -1, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("property %s: %q, expected a number from 0 to 1", slowStartProperty, text)
	}
	return x, nil
}
