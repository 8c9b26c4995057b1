package cluster

import "fmt"

// ResumeAttempt gives a suspended attempt a slot of its machine again.
type ResumeAttempt struct{ Attempt AttemptID }

func (c ResumeAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	a := p.attempt
	if a.State != AttemptRunning || !a.Suspended {
		return fmt.Errorf("%w: %v is %v, suspended: %v", ErrRefused, c.Attempt, a.State, a.Suspended)
	}
	if p.job.Suspended {
		return fmt.Errorf("%w: %v is of a job that is suspended", ErrRefused, c.Attempt)
	}
	m := tx.byName[a.Machine]
	if !m.hasRoom(p.stage.Slots, [slotKinds]int{}) {
		return fmt.Errorf("%w: no free %v slot on %s", ErrRefused, p.stage.Slot, a.Machine)
	}
	tx.wake(p)
	tx.delta.Asked = append(tx.delta.Asked, c.Attempt)
	return nil
}

// wake gives a slot to an attempt that stands still, whether one is free or not.
func (tx *transition) wake(p place) {
	a, m := p.attempt, tx.byName[p.attempt.Machine]
	a.Suspended, a.ResumedAt, a.Cause = false, tx.at, ""
	a.SuspendedMillis += tx.at - a.SuspendedAt
	m.Used = plus(m.Used, p.stage.Slots)
	tx.indexFree(m)
	p.stage.forgetSuspended(a)
}
