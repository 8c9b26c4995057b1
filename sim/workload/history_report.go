package workload

import (
	"encoding/json"

	"github.com/hammr/hammr/internal/report"
)

// addReport notes the job that a report tells of.
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
	j := loggedJob{finish: r.FinishTime, Job: Job{
		ID: r.JobID, Name: r.Name, User: r.User, Pool: r.Queue, Priority: priority, Submit: r.StartTime, SlowStart: slowStart,
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

func reportTask(t report.Task) loggedTask {
	p := loggedTask{id: t.ID, reduce: t.Type == report.Reduce}
	for _, a := range t.Attempts {
		p.attempts = append(p.attempts, loggedAttempt{
			succeeded: a.State == report.Succeeded, checkpointed: a.State == report.Preempted, start: a.StartTime, finish: a.FinishTime, machine: a.Node,
		})
	}
	return p
}

// inputOf is what the maps have read, by the counter that input formats keep;
// the display name of its group ends in a space.
func inputOf(r *report.Report) int64 {
	return r.Counters["File Input Format Counters "]["Bytes Read"]
}
