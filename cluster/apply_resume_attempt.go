package cluster

import "fmt"

// ResumeAttempt gives a suspended attempt the slots of its machine again, and all of its
// gang theirs.
type ResumeAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
}

func (c ResumeAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	a := p.attempt
	if !a.Suspended() {
		return fmt.Errorf("%w: %v is %v, not Suspended", ErrRefused, c.Attempt, a.State)
	}
	if p.job.Suspended {
		return fmt.Errorf("%w: %v is of a job that is suspended", ErrRefused, c.Attempt)
	}
	together := p.gang()
	if lacks := tx.firstWithoutSlots(together); lacks != nil {
		return fmt.Errorf("%w: no free %v slot on %s", ErrRefused, lacks.stage.Slot, lacks.attempt.Machine)
	}
	for _, each := range together {
		tx.resume(each)
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
	}
	return nil
}

// firstWithoutSlots returns the first of suspended attempts whose machine has no slot for it
// if all of them resume; nil if there are slots for all.
func (s *State) firstWithoutSlots(together []taskRef) *taskRef {
	taken := make(map[string]Slots)
	for i, p := range together {
		m := s.byName[p.attempt.Machine]
		if !m.hasSlotsToResume(p.stage.Slots, taken[m.Name]) {
			return &together[i]
		}
		taken[m.Name] = taken[m.Name].Plus(p.stage.Slots)
	}
	return nil
}

// CanResume reports whether there are slots for a suspended attempt and its gang.
func (v View) CanResume(a *Attempt) bool {
	p, err := v.s.attempt(a.ID)
	return err == nil && v.s.firstWithoutSlots(p.gang()) == nil
}

// resume gives its slot back to a suspended attempt, whether one is free or not.
func (tx *transition) resume(p taskRef) {
	a := p.attempt
	tx.step(p, eventResume)
	a.ResumedAt, a.Cause = tx.at, ""
	a.SuspendedMillis += tx.at - a.SuspendedAt
}
