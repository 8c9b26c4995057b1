package jobmaster

import (
	"encoding/json"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// summaryOf describes a finished job that is not archived.
func summaryOf(j *cluster.Job) history.Summary {
	status := new(wire.JobStatus)
	l := history.Summary{
		ID: j.ID.String(), Name: history.ShortText(j.Spec.Name), User: history.ShortText(j.Spec.User), Queue: history.ShortText(j.Spec.Pool), Priority: priorityName(j.Spec.Priority),
		State: j.State.String(), Cause: history.ShortText(j.Cause), SubmitTime: j.SubmittedAt, FinishTime: j.FinishedAt, OutputDir: history.ShortText(j.Spec.OutputDir),
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

// summaries returns the lines of archived jobs. It leaves out lines that a master of another
// version wrote in another form.
func (m *Master) summaries(ids []cluster.JobID) (lines []history.Summary) {
	for _, id := range ids {
		if l, j := new(history.Summary), m.view.Job(id); j != nil && json.Unmarshal(j.Summary, l) == nil {
			lines = append(lines, *l)
		}
	}
	return slices.Clip(lines)
}
