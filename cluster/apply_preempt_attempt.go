package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// PreemptAttempt takes its slot from a running attempt, and from all that run in a gang
// with it.
//
// By Split and Checkpoint the attempts keep their slots until they have saved their
// work and exited, or have declined. Suspended attempts keep their memory, and their
// slots are free at once: a machine executes its orders one after the other. By Kill
// the work since the last checkpoint is lost; the task is tried again and not charged.
//
// A map that cannot be split writes a checkpoint: it runs in a gang, or readers may
// have its task's earlier output.
//
// Logs hold it as pause_attempt, suspend_attempt or kill_attempt.
type PreemptAttempt struct {
	Attempt AttemptID
	Mode    preempt.Mode // Split, Checkpoint, Suspend or Kill
	Cause   string       // for people: what its slot is needed for
}

func (c PreemptAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
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

// save orders the attempts of a gang to save their work and exit.
func (c PreemptAttempt) save(tx *transition, p taskRef) error {
	if p.attempt.State != AttemptRunning {
		return fmt.Errorf("%w: %v is %v, not Running", ErrRefused, c.Attempt, p.attempt.State)
	}
	mode := c.Mode
	if p.stage.DisallowedModes.Has(preempt.Split) || p.task.outputWasRead() {
		mode = preempt.Checkpoint
	}
	if mode == preempt.Checkpoint && p.stage.DisallowedModes.Has(preempt.Checkpoint) {
		return fmt.Errorf("%w: %v cannot be resumed from a checkpoint: its job rules it out", ErrRefused, c.Attempt)
	}
	if m := tx.View().FirstFullDisk(tx.View().GangOf(p.attempt)); m != nil && !p.isBeingCheckpointed() {
		return fmt.Errorf("%w: %v runs in a gang that has a task on %s, which has no disk space for a checkpoint", ErrRefused, c.Attempt, m.Name)
	}
	for _, each := range p.gang() {
		if each.attempt.Preempting() { // another of the gang has declined since it was asked
			continue
		}
		tx.step(each, eventPreempt)
		each.attempt.PreemptMode, each.attempt.PreemptRequestedAt, each.attempt.Cause = mode, tx.at, c.Cause
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

// suspend stops the attempts of a gang and takes their slots.
func (c PreemptAttempt) suspend(tx *transition, p taskRef) error {
	gang := p.gang()
	for _, each := range gang {
		if each.attempt.State != AttemptRunning {
			return fmt.Errorf("%w: %v is %v, not Running", ErrRefused, each.attempt.ID, each.attempt.State)
		}
		if each.stage.DisallowedModes.Has(preempt.Suspend) {
			return fmt.Errorf("%w: tasks like %v are not suspended: their job rules it out", ErrRefused, each.attempt.ID)
		}
	}
	for _, each := range gang {
		each.stage.Preemption.Requested++
		each.stage.Preemption.KeptMillis += each.attempt.SlotTime(tx.at)
		tx.step(each, eventSuspend)
		each.attempt.SuspendedAt, each.attempt.Cause = tx.at, c.Cause
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
	}
	return nil
}

// noteSuspended adds an attempt to those that are suspended, in order of start.
func (s *Stage) noteSuspended(a *Attempt) {
	i, _ := slices.BinarySearchFunc(s.suspended, a, compareStart)
	s.suspended = slices.Insert(slices.Clip(s.suspended), i, a)
}

func (s *Stage) forgetSuspended(a *Attempt) {
	s.suspended = slices.DeleteFunc(slices.Clone(s.suspended), func(b *Attempt) bool { return a == b })
}

// compareStart orders attempts by their start.
func compareStart(a, b *Attempt) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), a.ID.Compare(b.ID))
}
