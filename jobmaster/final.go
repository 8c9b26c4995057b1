package jobmaster

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// This file describes what has become of tasks and attempts.

func failures(j *cluster.Job) []*wire.FailureRecord {
	var out []*wire.FailureRecord
	for _, f := range j.Failures {
		out = append(out, &wire.FailureRecord{
			Task: f.Attempt.Task.String(), Attempt: f.Attempt.String(), Node: f.Machine, Cause: f.Cause, Stack: f.Stack,
			Input: f.Input, Offset: f.Offset, Log: f.Log, Time: f.At, Skipped: f.Skipped,
		})
	}
	return out
}

func stages(j *cluster.Job) []*wire.StageStatus {
	var out []*wire.StageStatus
	for _, s := range j.Stages {
		out = append(out, &wire.StageStatus{
			Name: s.Name, Code: s.Code, MapSlots: int32(s.Slots[cluster.MapSlot]), ReduceSlots: int32(s.Slots[cluster.ReduceSlot]), ReadyTime: j.ReadyAt(s),
		})
	}
	return out
}

func tasks(j *cluster.Job, r *record) []*wire.TaskStatus {
	var out []*wire.TaskStatus
	for _, stage := range j.Stages {
		kind := taskproc.Kind_REDUCE
		if stage.Source {
			kind = taskproc.Kind_MAP
		}
		for _, t := range stage.Tasks {
			status := &wire.TaskStatus{Id: t.ID.String(), Kind: kind, State: wire.TaskState(t.State)}
			for _, a := range t.Attempts {
				status.Attempts = append(status.Attempts, &wire.TaskStatus_Attempt{
					Id: a.ID.String(), Node: a.Machine, State: wire.AttemptState(a.Status()), StartTime: a.StartedAt, FinishTime: a.EndedAt,
					ShuffleFinishTime: r.shuffleDone[a.ID], Wasted: a.WorkLost(), Suspended: a.InMemory(), Pausing: a.Preempting(),
					Cause: a.Cause, SuspendedMillis: a.SuspendedMillis,
				})
			}
			out = append(out, status)
		}
	}
	return out
}

// partitions are the sizes of what each reduce task was given, or, in a job
// without reduces, of what each map task wrote.
func partitions(j *cluster.Job) []*wire.Partition {
	var out []*wire.Partition
	for _, stage := range j.Stages {
		if !stage.Sink {
			continue
		}
		for _, t := range stage.Tasks {
			p := &wire.Partition{Partition: int32(t.ID.Number)}
			switch {
			case t.Output == nil:
			case stage.Source:
				p.Bytes, p.Records = t.Output.Bytes, t.Output.Records
			default:
				p.Bytes = counterOf(j, t, counter.ReduceShuffleBytes)
				p.Records = counterOf(j, t, counter.ReduceInputRecords)
			}
			out = append(out, p)
		}
	}
	return out
}

func counterOf(j *cluster.Job, t *cluster.Task, id counter.ID) int64 {
	for _, c := range j.CountersOf(t) {
		if c.Group == id.Group && c.Name == id.Name {
			return c.Value
		}
	}
	return 0
}
