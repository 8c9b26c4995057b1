package history

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster/board"
)

// Columns returns numbers of all tasks. In version 1 places are unknown, and bytes and records are
// known only of tasks that make a partition of the output.
func (j *Job) Columns() *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	c.Grow(len(j.Status.Tasks))
	for i, t := range j.Status.Tasks {
		r := j.row(i, t)
		c.Add(&r)
	}
	for _, p := range j.Status.Partitions {
		j.addPartition(c, p)
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

// addPartition adds what version 1 says of the task of a partition, which is of the last stage.
func (j *Job) addPartition(c *apidoc.TaskColumns, p *wire.Partition) {
	if j.Version > Version1 || len(c.Stages) == 0 {
		return
	}
	first := slices.Index(c.Stage, int32(len(c.Stages)-1))
	if i := first + int(p.Partition); i >= first && i < c.Len() && c.Number[i] == p.Partition {
		c.Bytes[i], c.Records[i] = p.Bytes, p.Records
	}
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

// EventLog returns the events of the job. Version 1 has none, so they are derived from the attempts:
// when each started and ended. Since is the end of the job then, because others are unknown.
func (j *Job) EventLog() apidoc.Events {
	if j.Version > Version1 {
		if j.Events.Events == nil {
			return apidoc.Events{Since: j.Events.Since, Events: []apidoc.Event{}}
		}
		return j.Events
	}
	out := apidoc.Events{Since: j.Status.FinishTime, Events: []apidoc.Event{}}
	for _, t := range j.Status.Tasks {
		for _, a := range t.Attempts {
			out.Events = append(out.Events, apidoc.Event{At: a.StartTime, Kind: board.EventStart.String(), Attempt: a.Id, Node: a.Machine})
			if a.FinishTime > 0 {
				out.Events = append(out.Events, apidoc.Event{At: a.FinishTime, Kind: endOf(a).String(), Attempt: a.Id, Node: a.Machine})
			}
		}
	}
	slices.SortStableFunc(out.Events, func(a, b apidoc.Event) int { return cmp.Compare(a.At, b.At) })
	return out
}

// endOf returns how an attempt ended, by its status.
func endOf(a *wire.TaskStatus_Attempt) board.EventKind {
	switch {
	case a.State == wire.AttemptState_ATTEMPT_SUCCEEDED:
		return board.EventFinish
	case a.State == wire.AttemptState_ATTEMPT_FAILED:
		return board.EventFail
	case a.State == wire.AttemptState_ATTEMPT_PREEMPTED && a.WorkLost:
		return board.EventPreempt
	case a.State == wire.AttemptState_ATTEMPT_PREEMPTED:
		return board.EventCheckpoint
	}
	return board.EventKill
}
