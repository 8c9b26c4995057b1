package cluster

import (
	"fmt"
	"slices"

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

func (c StartAttempt) subject() any { return c.Task }

func (c StartAttempt) apply(tx *transition, p taskRef) error {
	m := tx.byName[c.Machine]
	if !p.stage.StartsAlone() {
		return fmt.Errorf("%w: %v starts with its bundle, in %v slots", ErrRefused, c.Task, p.stage.Slots)
	}
	if err := c.check(p, m, Capacity{}); err != nil {
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

// check checks a start against the state. What is in taken does not count as free.
func (c StartAttempt) check(p taskRef, m *Machine, taken Capacity) error {
	switch {
	case m == nil:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Machine)
	case !p.job.Ready(p.stage):
		return errTooEarly
	case !p.task.isWaiting():
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Task, p.task.State)
	case p.task.Ranged && c.Range != p.task.Range:
		return fmt.Errorf("%w: %v owns %v, not %v", ErrRefused, c.Task, p.task.Range, c.Range)
	case p.task.Split < 0 && c.Range != dag.Range{}:
		return fmt.Errorf("%w: %v reads no split", ErrRefused, c.Task)
	}
	return m.checkFree(p.stage, m.Slots, taken)
}

// launch counts a start, and separately a start on a machine or in a rack that has the
// split.
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

// StartBundle gives slots to all waiting tasks of a bundle, or to none. A checkpointed
// bundle resumes; tasks that had finished before its checkpoint do not start.
type StartBundle struct {
	Job    JobID          `cbor:"Job"`
	Class  int            `cbor:"Class"`  // index in the Bundles of the job's layout
	Number int            `cbor:"Number"` // number of the bundle in the class
	Starts []StartAttempt `cbor:"Starts"` // one for each waiting task of the bundle
}

func (c StartBundle) subject() any { return c.Job }

func (c StartBundle) apply(tx *transition, p taskRef) error {
	j := p.job
	if c.Class < 0 || c.Class >= len(j.Bundles) {
		return fmt.Errorf("%w: %v has no bundles of class %d", ErrRefused, c.Job, c.Class)
	}
	b := j.Bundles[c.Class]
	tasks := b.WaitingIn(c.Number)
	if b.isRunning(c.Number) {
		return fmt.Errorf("%w: bundle %d is RUNNING", ErrRefused, c.Number)
	}
	if len(tasks) == 0 || len(c.Starts) != len(tasks) {
		return fmt.Errorf("%w: %d starts for %d tasks of bundle %d", ErrRefused, len(c.Starts), len(tasks), c.Number)
	}
	if err := c.check(tx, tasks); err != nil {
		return err
	}
	if b.Starts == nil {
		b.Starts = make([]int, b.Count)
	}
	b.Starts = slices.Clone(b.Starts)
	b.Starts[c.Number] = max(b.Starts[c.Number], tx.Restores*startsPerRestore) + 1
	for _, s := range c.Starts {
		p, _ := tx.task(s.Task)
		s.start(tx, p, tx.byName[s.Machine])
	}
	return nil
}

// check checks each start against the state, and all of them together against the free
// capacity.
func (c StartBundle) check(tx *transition, tasks []*Task) error {
	taken := make(map[string]Capacity)
	named := make(map[TaskID]bool)
	for _, s := range c.Starts {
		p, err := tx.task(s.Task)
		if err != nil {
			return err
		}
		if named[s.Task] || !slices.Contains(tasks, p.task) {
			return fmt.Errorf("%w: %v is in bundle %d twice or not at all", ErrRefused, s.Task, c.Number)
		}
		named[s.Task] = true
		m := tx.byName[s.Machine]
		if err := s.check(p, m, taken[s.Machine]); err != nil {
			return err
		}
		taken[s.Machine] = taken[s.Machine].Plus(p.stage.Takes())
	}
	return nil
}

// SpeculateTask starts a second attempt at a running task on another machine. The attempt
// that finishes first wins, and the other is killed.
type SpeculateTask struct {
	Task    TaskID `cbor:"Task"`
	Machine string `cbor:"Machine"`
}

func (c SpeculateTask) subject() any { return c.Task }

func (c SpeculateTask) apply(tx *transition, p taskRef) error {
	m := tx.byName[c.Machine]
	if err := c.check(p, m); err != nil {
		return err
	}
	p.stage.Launched++
	tx.addAttempt(p, m)
	return nil
}

// check refuses a second attempt that could not win or would change the result. The task
// must not read lost output. It must not have resumed from a checkpoint either: a second
// attempt would repeat the saved work.
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
		return fmt.Errorf("%w: %v already has an attempt on %s", ErrRefused, c.Task, c.Machine)
	}
	return m.checkFree(p.stage, m.Slots, Capacity{})
}
