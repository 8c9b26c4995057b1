package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
)

// LoseOutput reports that the output of a finished attempt cannot be read. If a task needs
// it, it is written again, and the try is charged: a task whose output is lost repeatedly
// fails its job.
type LoseOutput struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"`
}

func (c LoseOutput) subject() any { return c.Attempt }

func (c LoseOutput) apply(tx *transition, p taskRef) error {
	if p.task.Winner != p.attempt || !p.job.isNeeded(p.stage) {
		return fmt.Errorf("%w: no task needs the output of %v", ErrRefused, c.Attempt)
	}
	f := Failure{Cause: "its output is lost: " + c.Cause, Offset: -1}
	tx.recordFailure(p, f)
	tx.revoke(p, f.Cause)
	tx.charge(p, f)
	return nil
}

// RestoreOutput reports that a lost machine has come back with the output of an attempt that
// had processed Range. The attempt succeeds, unless another attempt has finished the task:
// the first that finishes wins.
type RestoreOutput struct {
	Attempt  AttemptID `cbor:"Attempt"`
	Range    dag.Range `cbor:"Range"` // zero for tasks that read no split
	Output   Manifest  `cbor:"Output"`
	Counters []Counter `cbor:"Counters"`
}

func (c RestoreOutput) subject() any { return c.Attempt }

func (c RestoreOutput) apply(tx *transition, p taskRef) error {
	m := tx.byName[p.attempt.DataMachine()] // nil if the machine was forgotten
	switch {
	case !p.attempt.Lost() || m == nil || m.Lost:
		return fmt.Errorf("%w: %v is not lost, or its machine has not rejoined", ErrRefused, c.Attempt)
	case p.job.State != JobRunning || p.task.State >= TaskSucceeded || p.stage.Bundle.Gang:
		return fmt.Errorf("%w: %v is %v", ErrRefused, p.task.ID, p.task.State)
	case c.Range != p.task.Range:
		return fmt.Errorf("%w: %v owns %v, not %v", ErrRefused, p.task.ID, p.task.Range, c.Range)
	}
	if err := tx.checkFinished(p, c.Output, c.Counters); err != nil {
		return fmt.Errorf("%w: retained output of %v: %w", ErrRefused, c.Attempt, err)
	}
	if p.task.State != TaskRunning {
		tx.unsetPending(p.job, p.stage, p.task)
		p.task.State = TaskRunning
		p.stage.Running++
	}
	tx.finishAttempt(p, eventRestore, c.Output, c.Counters)
	return nil
}

// MoveOutput reports that another machine has copied the output of a finished attempt.
// Readers fetch it there.
type MoveOutput struct {
	Attempt  AttemptID  `cbor:"Attempt"`
	Machine  string     `cbor:"Machine"`
	Segments []Segments `cbor:"Segments"` // as they lie on that machine, in the order in which the attempt reported them
}

func (c MoveOutput) subject() any { return c.Attempt }

func (c MoveOutput) apply(tx *transition, p taskRef) error {
	m := tx.byName[c.Machine]
	switch {
	case m == nil || m.Lost:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case p.task.Winner != p.attempt || p.job.State != JobRunning:
		return fmt.Errorf("%w: no task needs the output of %v", ErrRefused, c.Attempt)
	case !slices.EqualFunc(c.Segments, p.task.Output.Segments, sameBytes):
		return fmt.Errorf("%w: %s has other segments than %v has written", ErrRefused, c.Machine, c.Attempt)
	}
	for _, s := range c.Segments {
		if err := checkPath(s.Path); err != nil {
			return fmt.Errorf("%w: copy of the output of %v: %w", ErrRefused, c.Attempt, err)
		}
	}
	moved := *p.task.Output // snapshots share the old value
	moved.Segments = slices.Clone(moved.Segments)
	for i := range moved.Segments {
		moved.Segments[i].Path = c.Segments[i].Path
	}
	p.task.Output = &moved
	if p.attempt.MovedTo = c.Machine; c.Machine == p.attempt.Machine {
		p.attempt.MovedTo = ""
	}
	tx.indexData(c.Machine, p.task)
	p.stage.findOutput(p.task) // the output may have been lost during the copy
	tx.delta.Moved = append(tx.delta.Moved, c.Attempt)
	return nil
}

// sameBytes reports whether segments are the same files: the checksum of the index covers the
// checksums of all runs.
func sameBytes(a, b Segments) bool {
	return a.Edge == b.Edge && a.Node == b.Node && a.IndexChecksum == b.IndexChecksum
}
