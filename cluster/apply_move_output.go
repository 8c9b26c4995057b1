package cluster

import (
	"fmt"
	"slices"
)

// MoveOutput reports that another machine has copied the output of a finished attempt.
// Readers fetch it there.
type MoveOutput struct {
	Attempt  AttemptID  `cbor:"Attempt"`
	Machine  string     `cbor:"Machine"`
	Segments []Segments `cbor:"Segments"` // as they lie there, in the order in which the attempt reported them
}

func (c MoveOutput) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	m := tx.byName[c.Machine]
	switch {
	case m == nil || m.Lost:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case p.task.Winner != p.attempt || p.job.State != JobRunning:
		return fmt.Errorf("%w: no task needs the output of %v", ErrRefused, c.Attempt)
	case !slices.EqualFunc(c.Segments, p.task.Output.Segments, sameBytes):
		return fmt.Errorf("%w: %s has something else than %v has written", ErrRefused, c.Machine, c.Attempt)
	}
	moved := *p.task.Output // snapshots share the old value
	moved.Segments = c.Segments
	p.task.Output = &moved
	if p.attempt.MovedTo = c.Machine; c.Machine == p.attempt.Machine {
		p.attempt.MovedTo = ""
	}
	p.stage.findOutput(p.task) // it may have been lost during the copy
	tx.delta.Moved = append(tx.delta.Moved, c.Attempt)
	return nil
}

// sameBytes reports whether segments differ at most in their paths.
func sameBytes(a, b Segments) bool {
	a.Path = b.Path
	return a == b
}
