package cluster

import "fmt"

// PauseAttempt asks a running attempt to keep its work and end.
type PauseAttempt struct {
	Attempt AttemptID
	Cause   string // for people: what its slot is needed for

	// Split asks a map to finish what it has read, the rest being left to a new
	// task (earlyEnd: Chronos, section 4). Without it, and where that cannot be,
	// it writes a checkpoint; it cannot be where readers may have its task's earlier output.
	Split bool
}

func (c PauseAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State != AttemptRunning || p.attempt.Pausing || p.attempt.Suspended {
		return fmt.Errorf("%w: %v is %v, pausing: %v, suspended: %v", ErrRefused, c.Attempt, p.attempt.State, p.attempt.Pausing, p.attempt.Suspended)
	}
	if p.stage.Bundle.Gang {
		return fmt.Errorf("%w: %v runs in a gang, whose members cannot end one by one", ErrRefused, c.Attempt)
	}
	split := c.Split && !p.task.wasRead()
	if p.stage.Barred.Has(WayCheckpoint) && (!split || p.stage.Barred.Has(WaySplit)) {
		return fmt.Errorf("%w: %v cannot end and go on later: its job rules it out, or its nodes cannot", ErrRefused, c.Attempt)
	}
	p.attempt.Pausing, p.attempt.Splitting, p.attempt.PausingAt, p.attempt.Cause = true, split, tx.at, c.Cause
	p.stage.Taken.Asked++
	tx.delta.Asked = append(tx.delta.Asked, c.Attempt)
	return nil
}
