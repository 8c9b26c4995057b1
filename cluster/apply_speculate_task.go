package cluster

import (
	"fmt"
	"slices"
)

// SpeculateTask starts a second attempt at a running task on another machine. The attempt
// that finishes first wins, and the other is killed.
type SpeculateTask struct {
	Task    TaskID `cbor:"Task"`
	Machine string `cbor:"Machine"`
}

func (c SpeculateTask) apply(tx *transition) error {
	p, err := tx.task(c.Task)
	if err != nil {
		return err
	}
	m := tx.byName[c.Machine]
	if err := c.check(p, m); err != nil {
		return err
	}
	p.stage.Launched++
	tx.addAttempt(p, m)
	return nil
}

func (c SpeculateTask) check(p taskRef, m *Machine) error {
	running := len(slices.Collect(p.task.ActiveAttempts()))
	switch {
	case m == nil:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case p.job.Suspended:
		return fmt.Errorf("%w: %v is of a job that is suspended", ErrRefused, c.Task)
	case p.job.State != JobRunning || running != 1:
		return fmt.Errorf("%w: %v has %d running attempts, not 1", ErrRefused, c.Task, running)
	case !p.stage.StartsAlone():
		return fmt.Errorf("%w: %v runs in a bundle", ErrRefused, c.Task)
	case p.task.Checkpoint != nil:
		return fmt.Errorf("%w: %v resumed from a checkpoint", ErrRefused, c.Task)
	case p.job.needsLostOutput(p.stage, p.task):
		return fmt.Errorf("%w: %v has read output that is lost", ErrRefused, c.Task)
	case slices.ContainsFunc(p.task.Attempts, func(a *Attempt) bool { return a.Machine == c.Machine }):
		return fmt.Errorf("%w: %v has been on %s", ErrRefused, c.Task, c.Machine)
	case m.Free(p.stage.Slot) < 1:
		return fmt.Errorf("%w: no free %v slot on %s", ErrRefused, p.stage.Slot, c.Machine)
	}
	return nil
}
