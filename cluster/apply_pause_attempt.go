package cluster

import "fmt"

// PauseAttempt asks a running attempt to write a checkpoint and end.
type PauseAttempt struct{ Attempt AttemptID }

func (c PauseAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State != AttemptRunning || p.attempt.Pausing {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Attempt, p.attempt.State)
	}
	if p.stage.Bundle.Gang {
		return fmt.Errorf("%w: %v runs in a gang, whose members cannot be paused one by one", ErrRefused, c.Attempt)
	}
	p.attempt.Pausing = true
	tx.delta.Asked = append(tx.delta.Asked, c.Attempt)
	return nil
}
