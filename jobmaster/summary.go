package jobmaster

import (
	"encoding/json"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// summary is what lists show of a finished job. It is a line of an index
// (docs/formats/history.md), and the Summary of an archived job in the state. Times are ms
// since the epoch.
type summary struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	User        string `json:"user,omitempty"`
	Queue       string `json:"queue,omitempty"`
	Priority    string `json:"priority,omitempty"`
	State       string `json:"state"` // SUCCEEDED, FAILED or KILLED
	Cause       string `json:"cause,omitempty"`
	SubmitTime  int64  `json:"submitTime"`
	StartTime   int64  `json:"startTime,omitempty"` // of the first task
	FinishTime  int64  `json:"finishTime"`
	Maps        int32  `json:"maps,omitempty"`
	MapsDone    int32  `json:"mapsDone,omitempty"`
	Reduces     int32  `json:"reduces,omitempty"`
	ReducesDone int32  `json:"reducesDone,omitempty"`
	OutputDir   string `json:"outputDir,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"` // in the files of all finished tasks
}

// summaryOf describes a finished job that is not archived.
func summaryOf(j *cluster.Job) summary {
	status := new(wire.JobStatus)
	l := summary{
		ID: j.ID.String(), Name: shortText(j.Spec.Name), User: shortText(j.Spec.User), Queue: shortText(j.Spec.Pool), Priority: priorityName(j.Spec.Priority),
		State: j.State.String(), Cause: shortText(j.Cause), SubmitTime: j.SubmittedAt, FinishTime: j.FinishedAt, OutputDir: shortText(j.Spec.OutputDir),
	}
	for _, stage := range j.Stages {
		addStage(status, stage, 0)
		for _, t := range stage.Tasks {
			if t.Output == nil {
				continue
			}
			for _, p := range t.Output.Pieces {
				l.OutputBytes += p.Length
			}
		}
	}
	l.StartTime, l.Maps, l.MapsDone, l.Reduces, l.ReducesDone = status.StartTime, status.Maps, status.MapsDone, status.Reduces, status.ReducesDone
	return l
}

// maxSummaryText bounds each text of a summary, in bytes.
const maxSummaryText = 512

// shortText cuts a text off, so that the state keeps a bounded number of bytes of each job.
func shortText(s string) string {
	if len(s) <= maxSummaryText {
		return s
	}
	return s[:maxSummaryText] + "…"
}

// encode returns the summary as a line of JSON, without its end.
func (l summary) encode() []byte {
	line, err := json.Marshal(l)
	if err != nil {
		panic("jobmaster: summary of a job: " + err.Error()) // texts and numbers are always valid
	}
	return line
}

// status returns the status that lists show.
func (l summary) status() *wire.JobStatus {
	return &wire.JobStatus{
		JobId: l.ID, Name: l.Name, User: l.User, Queue: l.Queue, Priority: l.Priority, State: wire.JobState(wire.JobState_value[l.State]), Cause: l.Cause,
		SubmitTime: l.SubmitTime, StartTime: l.StartTime, FinishTime: l.FinishTime, OutputDir: l.OutputDir,
		Maps: l.Maps, MapsDone: l.MapsDone, MapProgress: progress(0, 0, float64(l.MapsDone), int(l.Maps)),
		Reduces: l.Reduces, ReducesDone: l.ReducesDone, ReduceProgress: progress(0, 0, float64(l.ReducesDone), int(l.Reduces)),
	}
}

// summaries returns the lines of archived jobs. It leaves out lines that a master of another
// version wrote in another form.
func (m *Master) summaries(ids []cluster.JobID) (lines []summary) {
	for _, id := range ids {
		if l, j := new(summary), m.view.Job(id); j != nil && json.Unmarshal(j.Summary, l) == nil {
			lines = append(lines, *l)
		}
	}
	return slices.Clip(lines)
}
