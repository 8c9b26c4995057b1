package board

import (
	"fmt"
	"iter"
	"math"
	"sort"

	"github.com/hammr/hammr/cluster"
)

// EventFilter selects events of a job by time, in ms since the epoch.
type EventFilter struct {
	From  int64 // the first time that is selected
	To    int64 // the first time that is not selected any more; default 0, no end
	Limit int   // events at most, the first ones; default 0, all
}

// Events yields events of a job in the order in which they happened; none of an archived job.
// complete says that all events of that time are among them: none was dropped or is older than
// the time from which on this master has followed, and Limit was enough. The error wraps
// cluster.ErrUnknown.
func (s *Snapshot) Events(id cluster.JobID, f EventFilter) (events iter.Seq[Event], complete bool, err error) {
	j := s.Job(id)
	if j == nil {
		return nil, false, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	if f.To == 0 {
		f.To = math.MaxInt64
	}
	first := j.firstEvent(f.From)
	end := max(first, j.firstEvent(f.To))
	complete = !j.Archived && s.Since != 0 && max(j.SubmittedAt, f.From) >= s.Since && (j.tape.dropped == 0 || first > j.tape.dropped)
	if f.Limit > 0 && end-first > f.Limit {
		end, complete = first+f.Limit, false
	}
	return func(yield func(Event) bool) {
		for i := first; i < end; i++ {
			if !yield(s.event(j, j.tape.at(i))) {
				return
			}
		}
	}, complete, nil
}

// firstEvent returns the number of the first event at a time or later, in ms since the epoch.
func (j *Job) firstEvent(at int64) int {
	return j.tape.dropped + sort.Search(j.tape.size, func(i int) bool { return j.tape.at(j.tape.dropped+i).at >= at })
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
	case EventContinue:
		out.Source = cluster.AttemptID{Task: task, Number: int(e.other) - 1}
	case EventSplit:
		out.Rest = cluster.TaskID{Job: j.ID, Stage: task.Stage, Number: int(e.other)}
	case EventMove:
		out.Machine = s.names[e.other]
	}
	return out
}
