package cluster

import "fmt"

// DeclinePreemption says that an attempt that was asked to keep its work and end goes
// on instead: it could not write it down, or came to no place to stop at. It has
// lost nothing.
type DeclinePreemption struct {
	Attempt AttemptID `cbor:"Attempt"`
}

func (c DeclinePreemption) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	a := p.attempt
	if a.State != AttemptRunning || !a.Pausing {
		return fmt.Errorf("%w: %v is %v, pausing: %v", ErrRefused, c.Attempt, a.State, a.Pausing)
	}
	a.Pausing, a.Splitting, a.Cause, a.DeclinedAt = false, false, "", tx.at
	return nil
}
