package history

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Columns returns numbers of all tasks.
func (j *Job) Columns() *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	c.Grow(len(j.Status.Tasks))
	for i, t := range j.Status.Tasks {
		r := j.row(i, t)
		c.Add(&r)
	}
	return c
}

// row returns a task.
func (j *Job) row(i int, t *wire.TaskStatus) apidoc.TaskRow {
	id, _ := cluster.ParseTaskID(t.Id) // valid, because the master that wrote the history has checked it
	a, n := shownAttempt(t)
	var more Task
	if i < len(j.Tasks) {
		more = j.Tasks[i]
	}
	r := apidoc.TaskRow{
		Type: t.Kind.String(), Stage: id.Stage, Number: id.Number, State: cluster.TaskState(t.State).String(), Attempts: len(t.Attempts),
		Node: a.GetMachine(), Duration: j.slotTime(a), Bytes: more.Bytes, Records: more.Records,
		In:      j.counter(more, counter.MapInputRecords) + j.counter(more, counter.ReduceInputRecords),
		Spilled: j.counter(more, counter.SpilledRecords), Read: j.counter(more, counter.BytesRead),
	}
	if n >= 0 && n < len(more.Attempts) {
		r.Place = more.Attempts[n].Place
	}
	if len(t.Attempts) > 0 {
		r.StartTime = t.Attempts[0].StartTime
	}
	if t.State == wire.TaskState_TASK_SUCCEEDED {
		r.FinishTime = a.GetFinishTime()
	}
	return r
}

// slotTime returns how long an attempt had its slot, in ms.
func (j *Job) slotTime(a *wire.TaskStatus_Attempt) int64 {
	if a == nil {
		return 0
	}
	return max(cmp.Or(a.FinishTime, j.Status.FinishTime)-a.StartTime-a.SuspendedMillis, 0)
}

// counter returns one counter of a task, 0 if it is unknown.
func (j *Job) counter(t Task, id counter.ID) int64 {
	if n := slices.Index(j.CounterNames, id); n >= 0 && n < len(t.Counters) {
		return t.Counters[n]
	}
	return 0
}

// shownAttempt returns the winner of a task or, without one, its last attempt, with its place among
// the attempts; nil and -1 if it has none.
func shownAttempt(t *wire.TaskStatus) (*wire.TaskStatus_Attempt, int) {
	n := len(t.Attempts) - 1
	if t.State == wire.TaskState_TASK_SUCCEEDED {
		for i, a := range t.Attempts {
			if a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
				n = i
			}
		}
	}
	if n < 0 {
		return nil, -1
	}
	return t.Attempts[n], n
}

// EventLog returns the events of the job. Its list is not nil.
func (j *Job) EventLog() apidoc.Events {
	if j.Events.Events == nil {
		return apidoc.Events{Since: j.Events.Since, Events: []apidoc.Event{}}
	}
	return j.Events
}
