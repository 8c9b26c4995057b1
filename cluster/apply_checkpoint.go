package cluster

import (
	"errors"
	"fmt"
)

// CheckpointAttempt reports that an attempt has written a checkpoint and exited. Its task
// resumes from the checkpoint in another attempt. A gang resumes once all its attempts have
// written a checkpoint or finished.
type CheckpointAttempt struct {
	Attempt    AttemptID  `cbor:"Attempt"`
	Checkpoint Checkpoint `cbor:"Checkpoint"`
}

func (c CheckpointAttempt) subject() any { return c.Attempt }

func (c CheckpointAttempt) apply(tx *transition, p taskRef) error {
	if problem := p.checkCheckpoint(c.Checkpoint); problem != nil && p.attempt.Active() {
		tx.failBadReport(p, problem)
	}
	if p.attempt.Active() {
		saved := c.Checkpoint
		saved.Attempt, saved.Machine = c.Attempt, p.attempt.Machine
		p.saveCheckpoint()
		p.task.Checkpoint = &saved
		tx.indexData(saved.Machine, p.task)
		p.stage.noteCheckpoint(p.attempt, saved, tx.at)
		tx.endAttempt(p, eventCheckpoint, p.attempt.Cause)
		p.commitCheckpoint()
	}
	tx.leaveMachine(p)
	return nil
}

// noteCheckpoint counts a checkpoint, and the time since the attempt was ordered to write it
// or was suspended.
func (s *Stage) noteCheckpoint(a *Attempt, c Checkpoint, at int64) {
	s.Preemption.Checkpoints++
	s.Preemption.CheckpointBytes += c.Bytes
	switch {
	case a.Suspended():
		s.Preemption.CheckpointMillis += at - a.SuspendedAt
	case a.Preempting():
		s.Preemption.CheckpointMillis += at - a.PreemptRequestedAt
		s.Preemption.KeptMillis += a.SlotTime(at)
	}
}

// MoveCheckpoint reports that another machine has copied an attempt's checkpoint, with all
// files that it names. The task resumes from the copy. An attempt that is already resuming
// looks for the checkpoint in the old place; if it fails, the next one uses the copy.
//
// Checkpoints move only away from machines that are drained. So a late copy does not replace
// a newer one, to which later checkpoints may refer.
type MoveCheckpoint struct {
	Attempt  AttemptID `cbor:"Attempt"`
	Machine  string    `cbor:"Machine"`
	Path     string    `cbor:"Path"`
	Bytes    int64     `cbor:"Bytes"`
	Checksum uint64    `cbor:"Checksum"` // xxhash64 over the file
}

func (c MoveCheckpoint) subject() any { return c.Attempt }

func (c MoveCheckpoint) apply(tx *transition, p taskRef) error {
	m, at := tx.byName[c.Machine], p.task.CheckpointOf(c.Attempt)
	switch {
	case m == nil || m.Lost:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case p.job.State != JobRunning || at == nil:
		return fmt.Errorf("%w: no task needs the checkpoint of %v", ErrRefused, c.Attempt)
	}
	if err := errors.Join(checkPath(c.Path), checkBytes(c.Bytes)); err != nil {
		return fmt.Errorf("%w: copy of the checkpoint of %v: %w", ErrRefused, c.Attempt, err)
	}
	if from := tx.byName[at.Machine]; from != nil && !from.Draining {
		return fmt.Errorf("%w: the checkpoint of %v lies on %s, which is not drained", ErrRefused, c.Attempt, at.Machine)
	}
	if at := p.task.Checkpoint; at.isBy(c.Attempt) {
		p.stage.setCheckpoint(p.task, at.movedTo(c))
	}
	if at := p.task.ConsistentCheckpoint; at.isBy(c.Attempt) {
		p.task.ConsistentCheckpoint = at.movedTo(c)
	}
	if p.attempt.MovedTo = c.Machine; c.Machine == p.attempt.Machine {
		p.attempt.MovedTo = ""
	}
	tx.indexData(c.Machine, p.task)
	for a := range p.task.ActiveAttempts() {
		if a.From == c.Attempt.Number+1 {
			a.CheckpointMoved = true
		}
	}
	return nil
}

// movedTo returns the checkpoint with the location of the copy.
func (c *Checkpoint) movedTo(to MoveCheckpoint) *Checkpoint {
	moved := *c // snapshots share the old value
	moved.Machine, moved.Path, moved.Bytes, moved.Checksum = to.Machine, to.Path, to.Bytes, to.Checksum
	return &moved
}

// CheckpointOf returns the checkpoint that an attempt has written, if its task may still
// resume from it; else nil.
func (t *Task) CheckpointOf(id AttemptID) *Checkpoint {
	for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
		if c.isBy(id) {
			return c
		}
	}
	return nil
}

func (c *Checkpoint) isBy(id AttemptID) bool { return c != nil && c.Attempt == id }
