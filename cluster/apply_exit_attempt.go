package cluster

// ExitAttempt says that an attempt is gone from its machine without having
// finished or failed: it was told to end.
type ExitAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // shown when the attempt had no verdict yet

	// Stuck is set when the attempt did not end although it was told to, and
	// its machine cannot end it by force: its job cannot be trusted to end
	// either, and fails.
	Stuck *Failure `cbor:"Stuck"`
}

func (c ExitAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.Active() {
		tx.endAttempt(p, eventExit, c.Cause)
	}
	tx.leaveMachine(p)
	if c.Stuck != nil {
		tx.recordFailure(p, *c.Stuck)
		if p.job.State < JobAborting {
			tx.abort(p.job, JobFailed, c.Stuck.Cause)
		}
	}
	return nil
}
