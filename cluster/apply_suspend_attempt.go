package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// SuspendAttempt has a running attempt stand still, and all that run in a gang with
// it. They keep their memory and lose their slots, which are free at once: a machine
// obeys orders one after the other.
type SuspendAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // for people: what its slot is needed for
}

func (c SuspendAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	together := p.gang()
	for _, each := range together {
		if err := each.checkSuspend(); err != nil {
			return err
		}
	}
	for _, each := range together {
		tx.still(each, c.Cause)
	}
	return nil
}

func (p taskRef) checkSuspend() error {
	a := p.attempt
	if a.State != AttemptRunning || a.Pausing || a.Suspended {
		return fmt.Errorf("%w: %v is %v, pausing: %v, suspended: %v", ErrRefused, a.ID, a.State, a.Pausing, a.Suspended)
	}
	if p.stage.DisallowedModes.Has(WaySuspend) {
		return fmt.Errorf("%w: tasks like %v are not suspended: their job rules it out", ErrRefused, a.ID)
	}
	return nil
}

// still takes its slots from an attempt, which keeps its memory.
func (tx *transition) still(p taskRef, cause string) {
	a, m := p.attempt, tx.byName[p.attempt.Machine]
	a.Suspended, a.SuspendedAt, a.Cause = true, tx.at, cause
	p.stage.Preemption.Requested++
	p.stage.Preemption.KeptMillis += a.SlotTime(tx.at)
	m.Used = minus(m.Used, p.stage.Slots)
	tx.indexFree(m)
	p.stage.noteSuspended(a)
	tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, a.ID)
}

func (s *Stage) noteSuspended(a *Attempt) {
	i, _ := slices.BinarySearchFunc(s.suspended, a, compareStart)
	s.suspended = slices.Insert(slices.Clip(s.suspended), i, a)
}

func (s *Stage) forgetSuspended(a *Attempt) {
	s.suspended = slices.DeleteFunc(slices.Clone(s.suspended), func(b *Attempt) bool { return a == b })
}

// compareStart is the order in which attempts have begun.
func compareStart(a, b *Attempt) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), a.ID.Compare(b.ID))
}
