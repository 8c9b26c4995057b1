package cluster

// ExitAttempt reports that an attempt's process is gone although it neither finished nor
// failed: it was ordered to exit, or for a cause that is not its own.
type ExitAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // shown if the attempt was still active

	// Stuck is set if the attempt ignores the order to exit and its machine cannot kill it.
	// Its job would not end either, so the job fails.
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
