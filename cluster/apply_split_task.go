package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
)

// SplitTask shrinks the range [start,end) of a running task to [start,At) and makes a new
// task of [At,end), with the next free number. The running attempt is ordered to stop at At.
type SplitTask struct {
	Attempt AttemptID    `cbor:"Attempt"`
	At      dag.Position `cbor:"At"`
}

// Splittable reports whether tasks of a stage can be split in two: each task is one Node,
// and no reader depends on the number of the writing task.
func (j *Job) Splittable(s *Stage) bool {
	return s.StartsAlone() && !slices.ContainsFunc(j.Spec.Graph.Edges, func(e dag.Edge) bool {
		return e.Connection != dag.AllToAll && j.StageOf(e.From) == s
	})
}

// CanSplit reports whether a task can be split in its present state.
func (j *Job) CanSplit(t *Task) bool {
	split, ok := j.SplitOf(t)
	return ok && t.Ranged && !split.Whole && j.Splittable(j.stage(t.ID.Stage)) && !t.outputWasRead()
}

// outputWasRead reports whether earlier output of the task may have been read before it was
// lost. Its readers read no other output of the task. If it were split, they would read the
// records of the new task twice.
func (t *Task) outputWasRead() bool {
	return slices.ContainsFunc(t.Attempts, func(a *Attempt) bool { return a.Revoked() })
}

func (c SplitTask) subject() any { return c.Attempt }

// apply divides the range, and with the range the records to skip. Both tasks keep the Part
// of the original, under which their outputs are joined in order of position.
func (c SplitTask) apply(tx *transition, p taskRef) error {
	t := p.task
	if !p.attempt.Active() || !t.Ranged || p.job.State != JobRunning || !p.job.Splittable(p.stage) {
		return fmt.Errorf("%w: %v does not read a range now", ErrRefused, c.Attempt)
	}
	if t.outputWasRead() {
		return fmt.Errorf("%w: the output of %v may already have been read as a whole", ErrRefused, t.ID)
	}
	if !t.Range.Start.Less(c.At) || !c.At.Less(t.Range.End) {
		return fmt.Errorf("%w: %v is not inside %v of %v", ErrRefused, c.At, t.Range, t.ID)
	}
	if err := tx.Limits.errExceeds(p.job.taskCount()+1, &tx.Limits.TasksPerJob, "tasks of the job"); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	rest := &Task{
		Split: t.Split, Part: t.Part,
		Range: dag.Range{Start: c.At, End: t.Range.End}, Ranged: true,
	}
	t.Range.End = c.At
	i, _ := slices.BinarySearchFunc(t.Skip, c.At, dag.Position.Compare)
	rest.Skip = slices.Clone(t.Skip[i:])
	t.Skip = slices.Clip(t.Skip[:i])
	tx.addTask(p.job, p.stage, rest)
	p.stage.FinishedAt = 0
	tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, c.Attempt)
	return nil
}
