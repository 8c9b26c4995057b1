package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hammr/hammr/internal/report"
)

// maxHistoryVersion is the newest version of docs/formats/history.md that the reader accepts. It reads
// what all versions have.
const maxHistoryVersion = 2

// slowStartProperty sets when the reduces of a job start.
const slowStartProperty = "mapreduce.job.reduce.slowstart.completedmaps"

// memoryProperties set the memory of maps and of reduces.
var memoryProperties = [2]string{"mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb"}

// historyLine is a line of a job's history, or the head of a job's report, which has no
// type.
//
//	{"type":"job","version":1,"job":{…}}     first line of a history
//	{"type":"task","task":{…}}               a line for each task
//	{"type":"end","tasks":27}                last line: the number of tasks
//	{"jobId":…,"tasks":[…]}                  a report, one value
type historyLine struct {
	Type    string          `json:"type"`
	Version int             `json:"version"`
	Job     *historyJob     `json:"job"`
	Task    *historyTask    `json:"task"`
	Tasks   json.RawMessage `json:"tasks"` // a number at the end of a history, a list in a report
}

// historyJob has the fields of a job that become a Job. Times are ms since the epoch.
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

// historyTask has the attempts of a task, in order. Wasted means that the checkpoint of a
// preempted attempt was lost.
type historyTask struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Attempts []struct {
		State      string      `json:"state"`
		Tasknode   string      `json:"node"`
		StartTime  wholeNumber `json:"startTime"`
		FinishTime wholeNumber `json:"finishTime"`
		Shuffled   wholeNumber `json:"shuffleFinishTime"`
		Wasted     bool        `json:"wasted"`
	} `json:"attempts"`
}

// wholeNumber is a 64-bit integer, which protobuf's JSON writes as a string. A JavaScript
// number could not hold all of its values.
type wholeNumber int64

// UnmarshalJSON accepts 7 and "7".
func (n *wholeNumber) UnmarshalJSON(b []byte) error {
	text := string(b)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	x, err := strconv.ParseInt(text, 10, 64)
	*n = wholeNumber(x)
	return err
}

// ReadHistory reads histories (docs/formats/history.md) and reports (docs/formats/report.md)
// of this project's clusters, in any mixture. A task takes the time of its successful
// attempt. source names the input in errors.
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

// read collects the jobs of one input. Histories may be concatenated, with reports in
// between.
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
		if err := errors.Join(h.line(&open, line, raw), h.selected.checkNumber(len(h.logged))); err != nil {
			return fmt.Errorf("%s:%d: %w", h.source, line, err)
		}
	}
}

// openHistory is a history whose end line is not read yet. Tasks get their bytes when it
// ends, since the number of maps is known only then.
type openHistory struct {
	line       int        // of its first line
	job        *loggedJob // nil between two histories
	partitions []int64    // bytes of each, by number
	input      int64      // bytes of all maps
}

// line handles one line of a history, or a report.
//
//	no history ── job ──► open ── task ─► open ── end ─► no history, job added
//	           ── report ─► no history, job added
func (h *jobLog) line(open *openHistory, n int, raw json.RawMessage) error {
	var l historyLine
	if err := unmarshal(raw, &l); err != nil {
		return err
	}
	switch {
	case l.Type == "" && open.job == nil:
		return h.addReport(n, raw)
	case l.Type == "job" && open.job == nil && l.Job != nil:
		if l.Version < 1 || l.Version > maxHistoryVersion {
			return fmt.Errorf("version %d of a history, expected 1 to %d", l.Version, maxHistoryVersion)
		}
		return open.begin(n, l.Job)
	case l.Type == "task" && open.job != nil && l.Task != nil:
		return open.addTask(l.Task)
	case l.Type == "event" && open.job != nil:
		return nil
	case l.Type == "end" && open.job != nil:
		if count := string(l.Tasks); count != strconv.Itoa(len(open.job.tasks)) && (count != "" || len(open.job.tasks) > 0) {
			return fmt.Errorf("%d lines of tasks, expected %q as in the end line", len(open.job.tasks), count)
		}
		open.close()
		h.addLogged(open.line, *open.job)
		*open = openHistory{}
		return nil
	}
	return fmt.Errorf("a line of type %q, expected %s", l.Type, open.expected())
}

// expected names the lines that may come next, for errors.
func (o *openHistory) expected() string {
	if o.job == nil {
		return "a job's first line or a report"
	}
	return "a task or the end of job " + strconv.Quote(o.job.ID)
}

// begin opens a history with its first line.
func (o *openHistory) begin(line int, j *historyJob) error {
	priority, err := priorityOf(j.Priority)
	if err != nil {
		return err
	}
	slowStart, err := slowStartOf(j.Properties)
	if err != nil {
		return err
	}
	memory, err := memoryOf(j.Properties)
	if err != nil {
		return err
	}
	*o = openHistory{line: line, input: int64(j.InputBytes), job: &loggedJob{finish: int64(j.FinishTime), Job: Job{
		ID: j.JobID, Name: j.Name, User: j.User, Pool: j.Queue, Priority: priority, Submit: int64(j.SubmitTime), SlowStart: slowStart,
		MemoryMB: memory,
	}}}
	for _, p := range j.Partitions {
		o.partitions = appendPartition(o.partitions, p.Partition, int64(p.Bytes))
	}
	return nil
}

// addTask adds a task; its bytes follow at the end of the history.
func (o *openHistory) addTask(t *historyTask) error {
	if t.Kind != "MAP" && t.Kind != "REDUCE" {
		return fmt.Errorf("task %q of kind %q, expected MAP or REDUCE", t.ID, t.Kind)
	}
	p := loggedTask{id: t.ID, reduce: t.Kind == "REDUCE"}
	for _, a := range t.Attempts {
		p.attempts = append(p.attempts, loggedAttempt{
			succeeded: a.State == "ATTEMPT_SUCCEEDED", checkpointed: a.State == "ATTEMPT_PREEMPTED" && !a.Wasted,
			start: int64(a.StartTime), finish: int64(a.FinishTime), shuffledAt: int64(a.Shuffled), machine: a.Tasknode,
		})
	}
	o.job.tasks = append(o.job.tasks, p)
	return nil
}

// close distributes the bytes over the tasks: equal parts of the input to the maps, its
// partition to each reduce. Histories have the bytes of the whole input only.
func (o *openHistory) close() { spreadBytes(o.job, o.input, o.partitions) }

// slowStartOf returns the slow start in a job's properties; negative if unset.
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

// memoryOf returns the memory of maps and reduces in a job's properties, in MiB; 0 if unset.
func memoryOf(properties map[string]string) (memory [2]int64, err error) {
	for kind, name := range memoryProperties {
		text, found := properties[name]
		if !found {
			continue
		}
		if memory[kind], err = strconv.ParseInt(text, 10, 64); err != nil || memory[kind] < 1 || memory[kind] > MaxMemoryMB {
			return memory, fmt.Errorf("property %s: %q, expected 1 to %d MiB", name, text, int64(MaxMemoryMB))
		}
	}
	return memory, nil
}

// spreadBytes gives each map an equal part of the input, and each reduce its partition.
// Histories and reports have no more than that.
func spreadBytes(j *loggedJob, input int64, partitions []int64) {
	maps := 0
	for _, t := range j.tasks {
		if !t.reduce {
			maps++
		}
	}
	parts, reduces := equalParts(maps, max(0, input)), 0
	for i := range j.tasks {
		t := &j.tasks[i]
		switch {
		case !t.reduce:
			t.bytes, parts = parts[0].Bytes, parts[1:]
		case reduces < len(partitions):
			t.bytes = max(0, partitions[reduces])
			reduces++
		}
	}
}

// appendPartition adds the bytes of a partition. They come by number; one out of order is
// ignored, since the sizes before it are unknown. The next number is the length of the
// list.
func appendPartition(list []int64, number int, bytes int64) []int64 {
	if number != len(list) {
		return list
	}
	return append(list, bytes)
}

// addReport adds the job of a report. A report is written by the client of a job and has
// one line or many.
func (h *jobLog) addReport(line int, raw json.RawMessage) error {
	r, err := report.Parse(raw)
	if err != nil {
		return err
	}
	priority, err := priorityOf(r.Priority)
	if err != nil {
		return err
	}
	slowStart, err := slowStartOf(r.Configuration)
	if err != nil {
		return err
	}
	memory, err := memoryOf(r.Configuration)
	if err != nil {
		return err
	}
	j := loggedJob{finish: r.FinishTime, Job: Job{
		ID: r.JobID, Name: r.Name, User: r.User, Pool: r.Queue, Priority: priority, Submit: r.StartTime, SlowStart: slowStart,
		MemoryMB: memory,
	}}
	for _, t := range r.Tasks {
		j.tasks = append(j.tasks, reportTask(t))
	}
	var partitions []int64
	for _, p := range r.Partitions {
		partitions = appendPartition(partitions, p.Partition, p.Bytes)
	}
	spreadBytes(&j, inputOf(&r), partitions)
	h.addLogged(line, j)
	return nil
}

// reportTask converts a task of a report. Reports do not have the end of a shuffle.
func reportTask(t report.Task) loggedTask {
	p := loggedTask{id: t.ID, reduce: t.Type == report.Reduce}
	for _, a := range t.Attempts {
		p.attempts = append(p.attempts, loggedAttempt{
			succeeded: a.State == report.Succeeded, checkpointed: a.State == report.Preempted, start: a.StartTime, finish: a.FinishTime, machine: a.Tasknode,
		})
	}
	return p
}

// inputOf returns the bytes that the maps have read, by the counter of input formats. The
// display name of its group ends in a space.
func inputOf(r *report.Report) int64 {
	return r.Counters["File Input Format Counters "]["Bytes Read"]
}
