package cluster

import (
	"slices"

	"github.com/hammr/hammr/dag"
)

// FailAttempt reports that an attempt has failed. A failure at a record is charged to the
// task's budget of skipped records while there is some left. Any other is charged to its
// number of tries, unless Uncharged is set.
type FailAttempt struct {
	Attempt   AttemptID `cbor:"Attempt"`
	Failure   Failure   `cbor:"Failure"`
	Uncharged bool      `cbor:"Uncharged"` // it is not the task's fault
	OnMachine bool      `cbor:"OnMachine"` // its process still runs, and its machine has to kill it

	// BadCheckpoint says that the attempt could not resume from its task's checkpoint, which
	// is dropped. The failure is not charged to the task.
	BadCheckpoint bool `cbor:"BadCheckpoint"`
}

func (c FailAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	if p.attempt.Active() {
		c.fail(tx, p)
	}
	if !c.OnMachine {
		tx.leaveMachine(p)
	}
	return nil
}

func (c FailAttempt) fail(tx *transition, p taskRef) {
	f := c.Failure
	if c.BadCheckpoint && p.rejectCheckpoint() {
		c.Uncharged = true
	}
	f.Skipped = !c.Uncharged && !f.Fatal && p.skip(f.Record)
	tx.recordFailure(p, f)
	if !c.OnMachine {
		tx.endAttempt(p, eventFail, f.Cause)
	} else {
		tx.endAttempt(p, eventTimeOut, f.Cause)
		tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, p.attempt.ID)
	}
	if !f.Skipped && !c.Uncharged {
		p.job.blame(p.attempt.Machine, tx.at)
		tx.charge(p, f)
	}
}

// skip adds a record to those that the task skips, and reports whether its budget allows it.
func (p taskRef) skip(record *dag.Position) bool {
	t := p.task
	if record == nil || len(t.Skip) >= p.job.Spec.SkipRecords || !t.Range.Contains(*record) {
		return false
	}
	i, known := slices.BinarySearchFunc(t.Skip, *record, dag.Position.Compare)
	if known {
		return false
	}
	t.Skip = slices.Insert(slices.Clip(t.Skip), i, *record)
	return true
}
