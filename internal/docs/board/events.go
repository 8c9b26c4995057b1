package board

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Events returns what has happened to the attempts at a task of a job in the order in which it
// happened, or to all attempts of the job if task is zero; none of an archived job. The error wraps
// cluster.ErrUnknown.
func (s *Snapshot) Events(id cluster.JobID, task cluster.TaskID) (doc apidoc.Events, err error) {
	j := s.Job(id)
	if j == nil {
		return doc, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	stage := -1
	if task != (cluster.TaskID{}) {
		if stage = slices.IndexFunc(j.Stages, func(st StageRow) bool { return st.Code == task.Stage }); stage < 0 || task.Job != id {
			return doc, fmt.Errorf("%w: %v", cluster.ErrUnknown, task)
		}
	}
	doc = apidoc.Events{Since: s.eventsSince(j), Events: []apidoc.Event{}}
	for i := j.tape.dropped; i < j.tape.end(); i++ {
		e := j.tape.at(i)
		if stage < 0 || int(e.stage) == stage && int(j.attempts[stage].at(int(e.attempt)).task) == task.Number {
			doc.Events = append(doc.Events, s.event(j, e))
		}
	}
	return doc, nil
}

// eventsSince returns the time before which events of a job may be missing, 0 if none is.
func (s *Snapshot) eventsSince(j *Job) int64 {
	switch {
	case j.tape.dropped > 0:
		return j.tape.at(j.tape.dropped).at
	case j.Archived || s.Since == 0 || j.SubmittedAt < s.Since:
		return cmp.Or(s.Since, s.At.UnixMilli())
	}
	return 0
}

// event returns an event as readers see it.
func (s *Snapshot) event(j *Job, e *event) apidoc.Event {
	row := j.attempts[e.stage].at(int(e.attempt))
	task := cluster.TaskID{Job: j.ID, Stage: j.Stages[e.stage].Code, Number: int(row.task)}
	out := apidoc.Event{
		At: e.at, Kind: e.kind.String(), Attempt: cluster.AttemptID{Task: task, Number: int(row.number)}.String(), Node: s.names[row.machine],
		Mode: string(modes[e.mode]), Bytes: e.bytes,
	}
	switch e.kind {
	case EventStart, EventSpeculate:
		out.Place = row.place.String()
	case EventContinue:
		out.Place, out.Source = row.place.String(), cluster.AttemptID{Task: task, Number: int(e.other) - 1}.String()
	case EventSplit:
		out.Rest = cluster.TaskID{Job: j.ID, Stage: task.Stage, Number: int(e.other)}.String()
	case EventMove:
		out.Node = s.names[e.other]
	case EventOrder, EventSuspend, EventPreempt:
		_, who := orderOf(s.names[e.other])
		if out.ForPool = who.Pool; who.Job != (cluster.JobID{}) {
			out.For = who.Job.String()
		}
	}
	return out
}
