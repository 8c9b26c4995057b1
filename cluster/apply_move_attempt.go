package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// MoveAttempt has an attempt that stands still keep its work and end, so that another
// machine may go on: its own has no slot for it. It is woken for that, in a slot more
// than the machine has. All that stand still in a gang with it do as it does.
type MoveAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // for people: why it is not to go on where it is
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

// canMigrate reports whether what an attempt has done can be kept for another machine.
// It is not asked again for what it, or one of its gang, has declined since it was made
// to stand still.
func (p taskRef) canMigrate() bool {
	declined := func(each taskRef) bool {
		return each.attempt.DeclinedAt > 0 && each.attempt.DeclinedAt >= each.attempt.SuspendedAt
	}
	if slices.ContainsFunc(p.gang(), declined) {
		return false
	}
	return !p.stage.DisallowedModes.Has(preempt.Checkpoint) || p.canSplit() && !p.stage.DisallowedModes.Has(preempt.Split)
}

// CanMigrate reports whether a suspended attempt may go on elsewhere, as MoveAttempt
// has it.
func (v View) CanMigrate(a *Attempt) bool {
	p, err := v.s.attempt(a.ID)
	return err == nil && p.canMigrate()
}
