package cluster

// EndAttempt says that an attempt is gone from its machine without having
// finished or failed: it was told to end.
type EndAttempt struct {
	Attempt AttemptID
	Cause   string // shown when the attempt had no verdict yet
}

func (c EndAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State == AttemptRunning {
		tx.end(p, AttemptKilled, c.Cause)
	}
	tx.leave(p)
	return nil
}
