package cluster

import (
	"fmt"
	"slices"
)

// PauseAttempt asks a running attempt to keep its work and end, and all that run in a
// gang with it.
type PauseAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // for people: what its slot is needed for

	// Split asks a map to finish what it has read, the rest being left to a new
	// task (earlyEnd: Chronos, section 4). Without it, and where that cannot be,
	// it writes a checkpoint; it cannot be in a gang, nor where readers may have its
	// task's earlier output.
	Split bool `cbor:"Split"`
}

func (c PauseAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.State != AttemptRunning || p.attempt.Pausing || p.attempt.Suspended {
		return fmt.Errorf("%w: %v is %v, pausing: %v, suspended: %v", ErrRefused, c.Attempt, p.attempt.State, p.attempt.Pausing, p.attempt.Suspended)
	}
	split := c.Split && !p.stage.DisallowedModes.Has(WaySplit) && !p.task.outputWasRead()
	if !split && p.stage.DisallowedModes.Has(WayCheckpoint) {
		return fmt.Errorf("%w: %v cannot end and go on later: its job rules it out", ErrRefused, c.Attempt)
	}
	if m := tx.View().FirstFullDisk(tx.View().GangOf(p.attempt)); m != nil && !p.isBeingCheckpointed() {
		return fmt.Errorf("%w: %v runs in a gang that has a task on %s, which has no room for a checkpoint", ErrRefused, c.Attempt, m.Name)
	}
	for _, each := range p.gang() {
		if !each.attempt.Pausing { // as one does that was asked before another declined
			tx.pause(each, split, c.Cause)
		}
	}
	return nil
}

// isBeingCheckpointed reports whether a task of a gang has been asked to pause, or has paused.
func (p taskRef) isBeingCheckpointed() bool {
	return slices.ContainsFunc(p.otherTasks(), func(o taskRef) bool { return o.task.State == TaskCheckpointed }) ||
		slices.ContainsFunc(p.gang(), func(o taskRef) bool { return o.attempt.Pausing })
}

// pause asks one attempt to keep its work and end.
func (tx *transition) pause(p taskRef, split bool, cause string) {
	a := p.attempt
	a.Pausing, a.Splitting, a.PreemptRequestedAt, a.Cause = true, split, tx.at, cause
	p.stage.Preemption.Requested++
	tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, a.ID)
}
