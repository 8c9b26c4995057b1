package cluster

import (
	"fmt"

	"github.com/hammr/hammr/dag"
)

// StartAttempt gives a slot of a machine to a task.
type StartAttempt struct {
	Task    TaskID    `cbor:"Task"`
	Machine string    `cbor:"Machine"`
	Range   dag.Range `cbor:"Range"` // what the task reads, as the proposer computes it; zero for tasks that read no split
	Local   bool      `cbor:"Local"` // the split lies on the machine

	RackLocal bool `cbor:"RackLocal"` // the split lies in the machine's rack, but not on the machine
}

func (c StartAttempt) apply(tx *transition) error {
	p, err := tx.task(c.Task)
	if err != nil {
		return err
	}
	m := tx.byName[c.Machine]
	if !p.stage.StartsAlone() {
		return fmt.Errorf("%w: %v starts with its bundle, in %v slots", ErrRefused, c.Task, p.stage.Slots)
	}
	if err := c.check(p, m, Slots{}); err != nil {
		return err
	}
	c.start(tx, p, m)
	return nil
}

// start gives the slots of a machine to a task, after check.
func (c StartAttempt) start(tx *transition, p taskRef, m *Machine) {
	tx.unsetPending(p.job, p.stage, p.task)
	if p.task.Split >= 0 {
		p.task.Range, p.task.Ranged = c.Range, true
	}
	p.task.State = TaskRunning
	p.stage.launch(tx.at, c)
	tx.addAttempt(p, m)
}

// check checks a start against the state. Slots that are taken already are not free on the
// machine.
func (c StartAttempt) check(p taskRef, m *Machine, taken Slots) error {
	switch {
	case m == nil:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case !p.job.Ready(p.stage):
		return errTooEarly
	case !p.task.isWaiting():
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Task, p.task.State)
	case !m.hasSlots(p.stage.Slots, taken):
		return fmt.Errorf("%w: no free %v slot on %s", ErrRefused, p.stage.Slot, c.Machine)
	case p.task.Ranged && c.Range != p.task.Range:
		return fmt.Errorf("%w: %v owns %v, not %v", ErrRefused, c.Task, p.task.Range, c.Range)
	case p.task.Split < 0 && c.Range != dag.Range{}:
		return fmt.Errorf("%w: %v reads no split", ErrRefused, c.Task)
	}
	return nil
}

func (s *Stage) launch(at int64, c StartAttempt) {
	s.Running++
	s.Launched++
	switch {
	case c.Local:
		s.LocalStarts++
	case c.RackLocal:
		s.RackStarts++
	}
	if s.StartedAt == 0 {
		s.StartedAt = at
	}
}
