package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// SuspendAttempt has a running attempt stand still. It keeps its memory and loses
// its slot, which is free at once: its machine obeys orders one after the other.
// Only an attempt that started alone can be suspended.
type SuspendAttempt struct {
	Attempt AttemptID
	Cause   string // for people: what its slot is needed for
}

func (c SuspendAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	a := p.attempt
	if a.State != AttemptRunning || a.Pausing || a.Suspended || !p.stage.Alone() {
		return fmt.Errorf("%w: %v is %v, pausing: %v, suspended: %v, alone: %v",
			ErrRefused, c.Attempt, a.State, a.Pausing, a.Suspended, p.stage.Alone())
	}
	if p.stage.Barred.Has(WaySuspend) {
		return fmt.Errorf("%w: tasks like %v are not suspended: their job rules it out", ErrRefused, c.Attempt)
	}
	m := tx.byName[a.Machine]
	a.Suspended, a.SuspendedAt, a.Cause = true, tx.at, c.Cause
	p.stage.Taken.Asked++
	p.stage.Taken.KeptMillis += a.Held(tx.at)
	m.Used = minus(m.Used, p.stage.Slots)
	tx.indexFree(m)
	p.stage.noteSuspended(a)
	tx.delta.Asked = append(tx.delta.Asked, c.Attempt)
	return nil
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
