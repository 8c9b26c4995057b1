package history

import (
	"encoding/json"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Summary is what lists show of a finished job. It is a line of an index (docs/formats/history.md),
// and the Summary of an archived job in the state. Times are ms since the epoch.
type Summary struct {
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

// Encode returns the summary as a line of JSON, without its end.
func (s Summary) Encode() []byte {
	line, err := json.Marshal(s)
	if err != nil {
		panic("history: summary of a job: " + err.Error()) // texts and numbers are always valid
	}
	return line
}

// Status returns the status that lists show.
func (s Summary) Status() *wire.JobStatus {
	return &wire.JobStatus{
		JobId: s.ID, Name: s.Name, User: s.User, Queue: s.Queue, Priority: s.Priority, State: wire.JobState(wire.JobState_value[s.State]), Cause: s.Cause,
		SubmitTime: s.SubmitTime, StartTime: s.StartTime, FinishTime: s.FinishTime, OutputDir: s.OutputDir,
		Maps: s.Maps, MapsDone: s.MapsDone, MapProgress: MeanProgress(0, 0, float64(s.MapsDone), int(s.Maps)),
		Reduces: s.Reduces, ReducesDone: s.ReducesDone, ReduceProgress: MeanProgress(0, 0, float64(s.ReducesDone), int(s.Reduces)),
	}
}

// MeanProgress returns the mean progress of all tasks, from 0 to 1. before is the mean of the first
// tasks, and done the sum of the fractions of more tasks. Without tasks it is 1.
func MeanProgress(before float64, tasks int32, done float64, more int) float64 {
	all := float64(tasks) + float64(more)
	if all == 0 {
		return 1
	}
	return min((before*float64(tasks)+done)/all, 1)
}

// SummaryOf returns the summary of a job by the first line of its history. Its output is counted as
// the job's counters have it.
func SummaryOf(s *wire.JobStatus) Summary {
	out := Summary{
		ID: s.JobId, Name: ShortText(s.Name), User: ShortText(s.User), Queue: ShortText(s.Queue), Priority: s.Priority, State: s.State.String(), Cause: ShortText(s.Cause),
		SubmitTime: s.SubmitTime, StartTime: s.StartTime, FinishTime: s.FinishTime, OutputDir: ShortText(s.OutputDir),
		Maps: s.Maps, MapsDone: s.MapsDone, Reduces: s.Reduces, ReducesDone: s.ReducesDone,
	}
	for _, c := range s.Counters {
		if c.Group == counter.BytesWritten.Group && c.Name == counter.BytesWritten.Name {
			out.OutputBytes = c.Value
		}
	}
	return out
}

// maxText bounds each text of a summary, in bytes.
const maxText = 512

// ShortText cuts a text off, so that lists keep a bounded number of bytes of each job.
func ShortText(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}
