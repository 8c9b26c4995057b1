package cluster

import "fmt"

// LoseOutput reports that the output of a finished attempt cannot be read. If a task needs
// it, it is written again, and the try is charged: a task whose output is lost repeatedly
// fails its job.
type LoseOutput struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"`
}

func (c LoseOutput) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.task.Winner != p.attempt || !p.job.isNeeded(p.stage) {
		return fmt.Errorf("%w: no task needs the output of %v", ErrRefused, c.Attempt)
	}
	f := Failure{Cause: "its output is lost: " + c.Cause, Offset: -1}
	tx.recordFailure(p, f)
	tx.revoke(p, f.Cause)
	tx.charge(p, f)
	return nil
}
