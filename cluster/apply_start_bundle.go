package cluster

import (
	"fmt"
	"slices"
)

// StartBundle gives slots to all waiting tasks of a bundle, or to none. A checkpointed
// bundle resumes; tasks that had finished before its checkpoint do not start.
type StartBundle struct {
	Job    JobID          `cbor:"Job"`
	Class  int            `cbor:"Class"`  // index in the Bundles of the job's layout
	Number int            `cbor:"Number"` // in the class
	Starts []StartAttempt `cbor:"Starts"` // one for each waiting task of the bundle
}

func (c StartBundle) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
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
	if b.starts == nil {
		b.starts = make([]int, b.Count)
	}
	b.starts = slices.Clone(b.starts)
	b.starts[c.Number]++
	for _, s := range c.Starts {
		p, _ := tx.task(s.Task)
		s.start(tx, p, tx.byName[s.Machine])
	}
	return nil
}

// check checks each start against the state, and all of them together against the free
// slots.
func (c StartBundle) check(tx *transition, tasks []*Task) error {
	taken := make(map[string]Slots)
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
		taken[s.Machine] = taken[s.Machine].Plus(p.stage.Slots)
	}
	return nil
}
