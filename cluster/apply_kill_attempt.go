package cluster

import "fmt"

// KillAttempt tells a running attempt to end. Its task is tried again and not
// charged.
type KillAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"`
	Preempt bool      `cbor:"Preempt"` // its slot is wanted for somebody else
}

func (c KillAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State != AttemptRunning {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Attempt, p.attempt.State)
	}
	if c.Preempt {
		tx.waste(p, c.Cause)
	} else {
		tx.kill(p, c.Cause)
	}
	return nil
}
