package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// MoveAttempt makes a suspended attempt save its work and exit, so that it resumes on
// another machine: its own has no slot for it. It is resumed for that, in one slot more than
// the machine has. Its whole gang does the same.
type MoveAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // for people: why it does not resume where it is
}

func (c MoveAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if a := p.attempt; !a.Suspended() || p.job.Suspended || !p.canMigrate() {
		return fmt.Errorf("%w: %v is %v, its job is suspended: %v, it can resume elsewhere: %v",
			ErrRefused, c.Attempt, a.State, p.job.Suspended, p.canMigrate())
	}
	tx.migrate(p, c.Cause)
	return nil
}

// canMigrate reports whether an attempt can save its work for another machine. It is not
// asked again if it, or another of its gang, has declined since it was suspended.
func (p taskRef) canMigrate() bool {
	declined := func(each taskRef) bool {
		return each.attempt.DeclinedAt > 0 && each.attempt.DeclinedAt >= each.attempt.SuspendedAt
	}
	if slices.ContainsFunc(p.gang(), declined) {
		return false
	}
	return !p.stage.DisallowedModes.Has(preempt.Checkpoint) || p.canSplit() && !p.stage.DisallowedModes.Has(preempt.Split)
}

// CanMigrate reports whether MoveAttempt may move a suspended attempt.
func (v View) CanMigrate(a *Attempt) bool {
	p, err := v.s.attempt(a.ID)
	return err == nil && p.canMigrate()
}
