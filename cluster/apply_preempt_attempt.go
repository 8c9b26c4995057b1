package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// PreemptAttempt takes the slot of a running attempt and, if it runs in a gang, the slots of
// all attempts of the gang.
//
// By Split and Checkpoint the attempts keep their slots until they have saved their
// work and exited, or have declined. Suspended attempts keep their memory, and their
// slots are free at once: a machine executes its orders one after the other. By Kill
// the work since the last checkpoint is lost; the task is tried again and not charged.
//
// A map that cannot be split writes a checkpoint: for example because it runs in a gang, or
// because readers may have earlier output of its task.
type PreemptAttempt struct {
	Attempt AttemptID    `cbor:"Attempt"`
	Mode    preempt.Mode `cbor:"Mode"`         // Split, Checkpoint, Suspend or Kill
	Cause   string       `cbor:"Cause"`        // shown to users: what its slot is needed for
	For     Beneficiary  `cbor:"For,omitzero"` // zero for an order of a user. The state does not keep it: readers of the log do
}

// Beneficiary is the job or the pool for which a slot is taken.
type Beneficiary struct {
	Job  JobID  `cbor:"Job,omitzero"`   // zero if only the pool is known, or neither
	Pool string `cbor:"Pool,omitempty"` // "" if Job says it, or it is unknown
}

func (c PreemptAttempt) subject() any { return c.Attempt }

func (c PreemptAttempt) apply(tx *transition, p taskRef) error {
	switch c.Mode {
	case preempt.Split, preempt.Checkpoint:
		return c.save(tx, p)
	case preempt.Suspend:
		return c.suspend(tx, p)
	case preempt.Kill:
		if !p.attempt.Active() {
			return fmt.Errorf("%w: %v has ended: it is %v", ErrRefused, c.Attempt, p.attempt.Status())
		}
		tx.preemptByKill(p, c.Cause)
		return nil
	}
	return fmt.Errorf("%w: %v cannot be preempted by %q", ErrRefused, c.Attempt, c.Mode)
}

// save orders the attempts of a gang to save their work and exit. The attempts keep their
// slots meanwhile: if a slot was given away at once, two processes would run in it.
//
// It is refused if the disk of one machine is full, unless an attempt of the gang has exited
// already. In that case the others have lost its streams and cannot continue.
func (c PreemptAttempt) save(tx *transition, p taskRef) error {
	if p.attempt.State != AttemptRunning {
		return fmt.Errorf("%w: %v is %v, not Running", ErrRefused, c.Attempt, p.attempt.State)
	}
	mode := c.Mode
	if p.stage.DisallowedModes.Has(preempt.Split) || p.task.outputWasRead() {
		mode = preempt.Checkpoint
	}
	if mode == preempt.Checkpoint && p.stage.DisallowedModes.Has(preempt.Checkpoint) {
		return fmt.Errorf("%w: %v cannot be resumed from a checkpoint: its job disallows it", ErrRefused, c.Attempt)
	}
	if m := tx.View().FirstFullDisk(tx.View().GangOf(p.attempt)); m != nil && !p.isBeingCheckpointed() {
		return fmt.Errorf("%w: %v runs in a gang that has a task on %s, which has no disk space for a checkpoint", ErrRefused, c.Attempt, m.Name)
	}
	for _, each := range p.gang() {
		if each.attempt.Preempting() { // another attempt of the gang has declined since its order
			continue
		}
		tx.step(each, eventPreempt)
		each.attempt.PreemptMode, each.attempt.PreemptRequestedAt, each.attempt.Cause = mode, tx.at, truncated(c.Cause, maxCauseBytes)
		each.stage.Preemption.Requested++
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
	}
	return nil
}

// isBeingCheckpointed reports whether a task of a gang is ordered to write a checkpoint,
// or has written it.
func (p taskRef) isBeingCheckpointed() bool {
	return slices.ContainsFunc(p.otherTasks(), func(o taskRef) bool { return o.task.State == TaskCheckpointed }) ||
		slices.ContainsFunc(p.gang(), func(o taskRef) bool { return o.attempt.Preempting() })
}

// suspend stops the attempts of a gang and takes their slots, as HFSP suspends tasks (its
// paper, section 3.4). All are checked before the first changes, so a gang is never
// suspended in part.
func (c PreemptAttempt) suspend(tx *transition, p taskRef) error {
	gang := p.gang()
	for _, each := range gang {
		if each.attempt.State != AttemptRunning {
			return fmt.Errorf("%w: %v is %v, not Running", ErrRefused, each.attempt.ID, each.attempt.State)
		}
		if each.stage.DisallowedModes.Has(preempt.Suspend) {
			return fmt.Errorf("%w: tasks like %v are not suspended: their job disallows it", ErrRefused, each.attempt.ID)
		}
	}
	for _, each := range gang {
		each.stage.Preemption.Requested++
		each.stage.Preemption.KeptMillis += each.attempt.SlotTime(tx.at)
		tx.step(each, eventSuspend)
		each.attempt.SuspendedAt, each.attempt.Cause = tx.at, truncated(c.Cause, maxCauseBytes)
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
	}
	return nil
}

// noteSuspended adds an attempt to the list of suspended attempts, in order of start.
func (s *Stage) noteSuspended(a *Attempt) {
	i, _ := slices.BinarySearchFunc(s.suspended, a, compareStart)
	s.suspended = slices.Insert(slices.Clip(s.suspended), i, a)
}

// forgetSuspended removes an attempt from the list of suspended attempts. The list is
// replaced, since callers of Suspended may still range over the old one.
func (s *Stage) forgetSuspended(a *Attempt) {
	s.suspended = slices.DeleteFunc(slices.Clone(s.suspended), func(b *Attempt) bool { return a == b })
}

// compareStart orders attempts by their start.
func compareStart(a, b *Attempt) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), a.ID.Compare(b.ID))
}

// DeclinePreemption reports that an attempt could not obey an order to split or to write a
// checkpoint: it could not write the checkpoint, or found no record boundary to split at. It
// continues and has lost nothing.
type DeclinePreemption struct {
	Attempt AttemptID `cbor:"Attempt"`
}

func (c DeclinePreemption) subject() any { return c.Attempt }

func (c DeclinePreemption) apply(tx *transition, p taskRef) error {
	a := p.attempt
	if !a.Preempting() {
		return fmt.Errorf("%w: %v is %v, not Preempting", ErrRefused, c.Attempt, a.State)
	}
	tx.step(p, eventDecline)
	a.Cause, a.DeclinedAt = "", tx.at
	return nil
}

// ResumeAttempt gives a suspended attempt slots of its machine again. The other attempts of
// its gang get slots of their machines.
type ResumeAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
}

func (c ResumeAttempt) subject() any { return c.Attempt }

func (c ResumeAttempt) apply(tx *transition, p taskRef) error {
	a := p.attempt
	if !a.Suspended() {
		return fmt.Errorf("%w: %v is %v, not Suspended", ErrRefused, c.Attempt, a.State)
	}
	if p.job.Suspended {
		return fmt.Errorf("%w: %v is of a job that is suspended", ErrRefused, c.Attempt)
	}
	together := p.gang()
	if err := tx.checkResume(together); err != nil {
		return err
	}
	for _, each := range together {
		tx.resume(each)
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
	}
	return nil
}

// checkResume returns why the suspended attempts in together cannot all resume; nil if their
// machines have slots and memory for all of them. An excluded machine still has slots for its
// suspended attempts.
func (s *State) checkResume(together []taskRef) error {
	taken := make(map[string]Capacity)
	for _, p := range together {
		m := s.byName[p.attempt.Machine]
		slots := m.Offered
		if m.Lost {
			slots = Slots{}
		}
		if err := m.checkFree(p.stage, slots, taken[m.Name]); err != nil {
			return err
		}
		taken[m.Name] = taken[m.Name].Plus(p.stage.Takes())
	}
	return nil
}

// CanResume reports whether there are slots and memory for a suspended attempt and its gang.
func (v View) CanResume(a *Attempt) bool {
	p, err := v.s.attempt(a.ID)
	return err == nil && v.s.checkResume(p.gang()) == nil
}

// resume gives a suspended attempt its slot back, even if no slot is free: an attempt that
// resumes only to save its work may use one slot more than its machine has.
func (tx *transition) resume(p taskRef) {
	a := p.attempt
	tx.step(p, eventResume)
	a.ResumedAt, a.Cause = tx.at, ""
	a.SuspendedMillis += tx.at - a.SuspendedAt
}

// MoveAttempt makes a suspended attempt save its work and exit, so that it resumes on
// another machine, because its own machine has no slot for it. To save its work it is
// resumed first, in one slot more than the machine has. Its whole gang does the same.
type MoveAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // shown to users: why it does not resume where it is
}

func (c MoveAttempt) subject() any { return c.Attempt }

func (c MoveAttempt) apply(tx *transition, p taskRef) error {
	if a := p.attempt; !a.Suspended() || p.job.Suspended || !p.canMigrate() {
		return fmt.Errorf("%w: %v is %v, its job is suspended: %v, it can resume elsewhere: %v",
			ErrRefused, c.Attempt, a.State, p.job.Suspended, p.canMigrate())
	}
	tx.migrate(p, c.Cause)
	return nil
}

// canMigrate reports whether an attempt can save its work for another machine. It is not
// ordered again if it, or another attempt of its gang, has declined since it was suspended.
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

// migrate makes an attempt, and all others of its gang, save their work and exit, so that
// they resume on other machines. Suspended attempts are resumed first, in more slots than
// their machines have. An attempt that cannot save its work continues.
func (tx *transition) migrate(p taskRef, cause string) {
	if p.stage.Bundle.Gang && p.stage.DisallowedModes.Has(preempt.Checkpoint) {
		return
	}
	for _, each := range p.gang() {
		if each.attempt.Suspended() {
			tx.resume(each)
			tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
		}
	}
	tx.preemptKeepingWork(p, cause, preempt.Split, preempt.Checkpoint)
}

// preemptKeepingWork takes the slot of an active attempt, by the first of the modes that the
// attempt allows. An attempt that allows none of them continues.
func (tx *transition) preemptKeepingWork(p taskRef, cause string, modes ...preempt.Mode) {
	for _, mode := range modes {
		command := PreemptAttempt{Attempt: p.attempt.ID, Mode: mode, Cause: cause}
		if (mode != preempt.Split || p.canSplit()) && command.apply(tx, p) == nil {
			return
		}
	}
}

// canSplit reports whether an attempt reads a range that can be split.
func (p taskRef) canSplit() bool {
	return p.task.Ranged && p.job.Splittable(p.stage) && !p.task.outputWasRead()
}
