package cluster

import "fmt"

// KillAttempt orders an attempt to exit. Its task is tried again and not charged.
type KillAttempt struct {
	Attempt AttemptID
	Cause   string
}

func (c KillAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if !p.attempt.Active() {
		return fmt.Errorf("%w: %v has ended: it is %v", ErrRefused, c.Attempt, p.attempt.Status())
	}
	tx.kill(p, c.Cause)
	return nil
}
