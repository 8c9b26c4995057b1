package cluster

// CheckpointAttempt says that an attempt has written a checkpoint and is gone
// from its machine. Its task goes on from there in another attempt.
type CheckpointAttempt struct {
	Attempt    AttemptID
	Checkpoint Checkpoint
}

func (c CheckpointAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State == AttemptRunning {
		saved := c.Checkpoint
		saved.Attempt, saved.Machine = c.Attempt, p.attempt.Machine
		if !p.stage.Bundle.Gang { // whose tasks start anew together
			p.task.Checkpoint = &saved
		}
		tx.end(p, AttemptPreempted, p.attempt.Cause)
	}
	tx.leave(p)
	return nil
}
