package cluster

// CheckpointAttempt reports that an attempt has written a checkpoint and exited. Its task
// resumes from it in another attempt; a gang does so once all others have ended with a
// checkpoint or finished.
type CheckpointAttempt struct {
	Attempt    AttemptID  `cbor:"Attempt"`
	Checkpoint Checkpoint `cbor:"Checkpoint"`
}

func (c CheckpointAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.Active() {
		saved := c.Checkpoint
		saved.Attempt, saved.Machine = c.Attempt, p.attempt.Machine
		p.saveCheckpoint()
		p.task.Checkpoint = &saved
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
