package cluster

import "fmt"

// DeclinePreemption reports that an attempt could not obey an order to split or to write a
// checkpoint: it could not write it, or found no record boundary. It runs on and has lost
// nothing.
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
