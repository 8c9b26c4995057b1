package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// slowStartProperty sets when the reduces of a job start.
const slowStartProperty = "mapreduce.job.reduce.slowstart.completedmaps"

// memoryProperties set the memory of maps and of reduces.
var memoryProperties = [2]string{"mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb"}

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
//
//	no history ── job ──► open ── task, event ─► open ── end ─► no history, job added
//	           ── report ─► no history, job added
func (h *jobLog) read(r io.Reader) error {
	in := newJSONStream(r, h.source)
	var open bytes.Buffer // lines of a history whose end line is not read yet
	first := 0
	for {
		raw, line, err := in.next()
		if errors.Is(err, io.EOF) && open.Len() > 0 {
			return fmt.Errorf("%s:%d: a history without its end line", h.source, first)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var l struct {
			Type string `json:"type"` // a report has none
		}
		err = unmarshal(raw, &l)
		switch {
		case err != nil:
		case l.Type == "" && open.Len() == 0:
			err = h.addReport(line, raw)
		case open.Len() == 0 && l.Type != "job":
			err = fmt.Errorf("a line of type %q, expected a job's first line or a report", l.Type)
		default:
			if open.Len() == 0 {
				first = line
			}
			open.Write(raw)
			if l.Type == "end" {
				line, err = first, h.addHistory(first, &open)
				open.Reset()
			}
		}
		if err := errors.Join(err, h.selected.checkNumber(len(h.logged))); err != nil {
			return fmt.Errorf("%s:%d: %w", h.source, line, err)
		}
	}
}

// addHistory adds the job of a history, which begins on a line.
func (h *jobLog) addHistory(line int, lines io.Reader) error {
	past, err := history.Decode(lines)
	if err != nil {
		return err
	}
	s := past.Status
	j := loggedJob{finish: s.FinishTime, Job: Job{ID: s.JobId, Name: s.Name, User: s.User, Pool: s.Queue, Submit: s.SubmitTime}}
	if err := j.setProperties(s.Priority, s.Properties); err != nil {
		return err
	}
	pauses := pausesOf(past.Events.Events)
	for _, t := range s.Tasks {
		if t.Kind == taskproc.Kind_KIND_UNSPECIFIED {
			return fmt.Errorf("task %q is of no kind, expected MAP or REDUCE", t.Id)
		}
		p := loggedTask{id: t.Id, reduce: t.Kind == taskproc.Kind_REDUCE}
		for _, a := range t.Attempts {
			p.attempts = append(p.attempts, loggedAttempt{
				succeeded:    a.State == wire.AttemptState_ATTEMPT_SUCCEEDED,
				checkpointed: a.State == wire.AttemptState_ATTEMPT_PREEMPTED && !a.WorkLost,
				start:        a.StartTime, finish: a.FinishTime, shuffledAt: a.ShuffleFinishTime, machine: a.Machine, pauses: pauses[a.Id],
			})
		}
		j.tasks = append(j.tasks, p)
	}
	var partitions []int64
	for _, p := range s.Partitions {
		partitions = appendPartition(partitions, int(p.Partition), p.Bytes)
	}
	spreadBytes(&j, s.InputBytes, partitions)
	h.addLogged(line, j)
	return nil
}

// setProperties sets what a job's priority and properties say.
func (j *loggedJob) setProperties(priority string, properties map[string]string) error {
	var errs [3]error
	j.Priority, errs[0] = priorityOf(priority)
	j.SlowStart, errs[1] = slowStartOf(properties)
	j.MemoryMB, errs[2] = memoryOf(properties)
	return errors.Join(errs[:]...)
}

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
	j := loggedJob{finish: r.FinishTime, Job: Job{ID: r.JobID, Name: r.Name, User: r.User, Pool: r.Queue, Submit: r.StartTime}}
	if err := j.setProperties(r.Priority, r.Configuration); err != nil {
		return err
	}
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
