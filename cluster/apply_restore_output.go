package cluster

import (
	"fmt"

	"github.com/hammr/hammr/dag"
)

// RestoreOutput reports that a lost machine has come back with the output of an attempt that
// had processed Range. The attempt succeeds, unless another attempt has finished the task:
// the first that finishes wins.
type RestoreOutput struct {
	Attempt  AttemptID `cbor:"Attempt"`
	Range    dag.Range `cbor:"Range"` // zero for tasks that read no split
	Output   Manifest  `cbor:"Output"`
	Counters []Counter `cbor:"Counters"`
}

func (c RestoreOutput) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	m := tx.byName[p.attempt.DataMachine()] // nil if it was forgotten
	switch {
	case !p.attempt.Lost() || m == nil || m.Lost:
		return fmt.Errorf("%w: %v has not come back", ErrRefused, c.Attempt)
	case p.job.State != JobRunning || p.task.State >= TaskSucceeded || p.stage.Bundle.Gang:
		return fmt.Errorf("%w: %v is %v", ErrRefused, p.task.ID, p.task.State)
	case c.Range != p.task.Range:
		return fmt.Errorf("%w: %v owns %v, not %v", ErrRefused, p.task.ID, p.task.Range, c.Range)
	}
	if p.task.State != TaskRunning {
		tx.unsetPending(p.job, p.stage, p.task)
		p.task.State = TaskRunning
		p.stage.Running++
	}
	tx.finishAttempt(p, eventRestore, c.Output, c.Counters)
	return nil
}
