package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
)

// SplitTask shrinks the range [start,end) of a running task to [start,At) and
// makes a new task of [At,end), with the next free number. The attempt that
// runs is told where to stop.
type SplitTask struct {
	Attempt AttemptID    `cbor:"Attempt"`
	At      dag.Position `cbor:"At"`
}

// Splittable reports whether tasks of a stage can be cut in two: each is a Node,
// and no reader asks for that of one number.
func (j *Job) Splittable(s *Stage) bool {
	return s.StartsAlone() && !slices.ContainsFunc(j.Spec.Graph.Edges, func(e dag.Edge) bool {
		return e.Connection != dag.AllToAll && j.StageOf(e.From) == s
	})
}

// CanSplit reports whether a task can be cut where it is now, and its parts read
// for what they are.
func (j *Job) CanSplit(t *Task) bool {
	split, ok := j.SplitOf(t)
	return ok && t.Ranged && !split.Whole && j.Splittable(j.stage(t.ID.Stage)) && !t.outputWasRead()
}

// outputWasRead reports whether output of the task may have been read that it has to write
// again. Who has read it keeps it and takes nothing else from the task, so that the
// rest of it would be read twice from a task that was cut from it.
func (t *Task) outputWasRead() bool {
	return slices.ContainsFunc(t.Attempts, func(a *Attempt) bool { return a.Revoked() })
}

func (c SplitTask) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	t := p.task
	if !p.attempt.Active() || !t.Ranged || p.job.State != JobRunning || !p.job.Splittable(p.stage) {
		return fmt.Errorf("%w: %v does not read a range now", ErrRefused, c.Attempt)
	}
	if t.outputWasRead() {
		return fmt.Errorf("%w: what %v has written once may have been read as a whole", ErrRefused, t.ID)
	}
	if !t.Range.Start.Less(c.At) || !c.At.Less(t.Range.End) {
		return fmt.Errorf("%w: %v is not inside %v of %v", ErrRefused, c.At, t.Range, t.ID)
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
