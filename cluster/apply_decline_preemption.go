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
	if !a.Preempting() {
		return fmt.Errorf("%w: %v is %v, not Preempting", ErrRefused, c.Attempt, a.State)
	}
	tx.step(p, eventDecline)
	a.Cause, a.DeclinedAt = "", tx.at
	return nil
}
