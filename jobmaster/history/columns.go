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

// placeNames are the names of places in TaskColumns.
var placeNames = []string{"unknown", "node", "rack", "other", "any"}

// Columns returns numbers of all tasks. In version 1 places are unknown, and bytes and records are
// known only of tasks that make a partition of the output.
func (j *Job) Columns() *apidoc.TaskColumns {
	b := columnsBuilder{job: j, TaskColumns: &apidoc.TaskColumns{Nodes: []string{""}, Places: placeNames}, nodes: map[string]int32{"": 0}, stages: make(map[string]int32)}
	for i, t := range j.Status.Tasks {
		b.add(i, t)
	}
	for _, p := range j.Status.Partitions {
		b.addPartition(p)
	}
	return b.TaskColumns
}

type columnsBuilder struct {
	*apidoc.TaskColumns
	job           *Job
	nodes, stages map[string]int32
}

// add adds a task.
func (b *columnsBuilder) add(i int, t *wire.TaskStatus) {
	id, _ := cluster.ParseTaskID(t.Id) // valid, because the master that wrote the history has checked it
	stage, known := b.stages[id.Stage]
	if !known {
		stage = int32(len(b.Stages))
		b.stages[id.Stage] = stage
		b.Stages, b.Types = append(b.Stages, id.Stage), append(b.Types, t.Kind.String())
	}
	a, n := shownAttempt(t)
	var start, end int64
	if len(t.Attempts) > 0 {
		start = t.Attempts[0].StartTime
	}
	if t.State == wire.TaskState_TASK_SUCCEEDED {
		end = a.GetFinishTime()
	}
	var more Task
	if i < len(b.job.Tasks) {
		more = b.job.Tasks[i]
	}
	place := ""
	if n >= 0 && n < len(more.Attempts) {
		place = more.Attempts[n].Place
	}
	b.Stage, b.Number = append(b.Stage, stage), append(b.Number, int32(id.Number))
	b.State = append(b.State, indexIn(&b.States, cluster.TaskState(t.State).String()))
	b.Start, b.End, b.Duration = append(b.Start, start), append(b.End, end), append(b.Duration, b.slotTime(a))
	b.Bytes, b.Records = append(b.Bytes, more.Bytes), append(b.Records, more.Records)
	b.In = append(b.In, b.counter(more, counter.MapInputRecords)+b.counter(more, counter.ReduceInputRecords))
	b.Spilled = append(b.Spilled, b.counter(more, counter.SpilledRecords))
	b.Node, b.Place = append(b.Node, b.node(a.GetMachine())), append(b.Place, int32(max(slices.Index(placeNames, place), 0)))
	b.Attempts = append(b.Attempts, int32(len(t.Attempts)))
}

// addPartition adds what version 1 says of the task of a partition, which is of the last stage.
func (b *columnsBuilder) addPartition(p *wire.Partition) {
	if b.job.Version > Version1 || len(b.Stages) == 0 {
		return
	}
	last := int32(len(b.Stages) - 1)
	first := slices.Index(b.Stage, last)
	if i := first + int(p.Partition); i < len(b.Stage) && b.Number[i] == p.Partition {
		b.Bytes[i], b.Records[i] = p.Bytes, p.Records
	}
}

// slotTime returns how long an attempt had its slot, in ms.
func (b *columnsBuilder) slotTime(a *wire.TaskStatus_Attempt) int64 {
	if a == nil {
		return 0
	}
	return max(cmp.Or(a.FinishTime, b.job.Status.FinishTime)-a.StartTime-a.SuspendedMillis, 0)
}

// counter returns one counter of a task, 0 if it is unknown.
func (b *columnsBuilder) counter(t Task, id counter.ID) int64 {
	if n := slices.Index(b.job.CounterNames, id); n >= 0 && n < len(t.Counters) {
		return t.Counters[n]
	}
	return 0
}

// node returns the place of a tasknode in Nodes.
func (b *columnsBuilder) node(name string) int32 {
	n, known := b.nodes[name]
	if !known {
		n = int32(len(b.Nodes))
		b.nodes[name], b.Nodes = n, append(b.Nodes, name)
	}
	return n
}

// indexIn returns the place of a text in a short list, and adds it if it is not there.
func indexIn(list *[]string, text string) int32 {
	i := slices.Index(*list, text)
	if i < 0 {
		i = len(*list)
		*list = append(*list, text)
	}
	return int32(i)
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
