package board

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Events yields what has happened to the attempts at a task of a job in the order in which it
// happened, or to all attempts of the job if task is zero; none of an archived job. Events before
// since, ms since the epoch, may be missing; 0 if none is. The error wraps cluster.ErrUnknown.
func (s *Snapshot) Events(id cluster.JobID, task cluster.TaskID) (events iter.Seq[Event], since int64, err error) {
	j := s.Job(id)
	if j == nil {
		return nil, 0, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	stage := -1
	if task != (cluster.TaskID{}) {
		if stage = slices.IndexFunc(j.Stages, func(st StageRow) bool { return st.Code == task.Stage }); stage < 0 || task.Job != id {
			return nil, 0, fmt.Errorf("%w: %v", cluster.ErrUnknown, task)
		}
	}
	return func(yield func(Event) bool) {
		for i := j.tape.dropped; i < j.tape.end(); i++ {
			e := j.tape.at(i)
			if stage >= 0 && (int(e.stage) != stage || int(j.attempts[stage].at(int(e.attempt)).task) != task.Number) {
				continue
			}
			if !yield(s.event(j, e)) {
				return
			}
		}
	}, s.eventsSince(j), nil
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
func (s *Snapshot) event(j *Job, e *event) Event {
	row := j.attempts[e.stage].at(int(e.attempt))
	task := cluster.TaskID{Job: j.ID, Stage: j.Stages[e.stage].Code, Number: int(row.task)}
	out := Event{
		At: e.at, Kind: e.kind, Attempt: cluster.AttemptID{Task: task, Number: int(row.number)}, Machine: s.names[row.machine],
		Mode: modes[e.mode], Bytes: e.bytes,
	}
	switch e.kind {
	case EventStart, EventSpeculate:
		out.Place = row.place
	case EventContinue:
		out.Place, out.Source = row.place, cluster.AttemptID{Task: task, Number: int(e.other) - 1}
	case EventSplit:
		out.Rest = cluster.TaskID{Job: j.ID, Stage: task.Stage, Number: int(e.other)}
	case EventMove:
		out.Machine = s.names[e.other]
	case EventOrder, EventSuspend, EventPreempt:
		_, out.For = orderOf(s.names[e.other])
	}
	return out
}
