package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
)

// FinishAttempt reports that an attempt has processed Range and exited. The first attempt
// that finishes a task wins. An attempt whose range differs from its task's range is killed.
// An attempt that had ended before only leaves its slot. An attempt whose report does not fit
// the job has failed.
type FinishAttempt struct {
	Attempt  AttemptID `cbor:"Attempt"`
	Range    dag.Range `cbor:"Range"` // zero for tasks that read no split
	Output   Manifest  `cbor:"Output"`
	Counters []Counter `cbor:"Counters"`
}

func (c FinishAttempt) subject() any { return c.Attempt }

func (c FinishAttempt) apply(tx *transition, p taskRef) error {
	var problem error
	if p.attempt.Active() {
		problem = tx.checkFinished(p, c.Output, c.Counters)
	}
	switch {
	case !p.attempt.Active():
	case problem != nil:
		tx.failBadReport(p, problem)
	case c.Range != p.task.Range:
		tx.endAttempt(p, eventExit, "it finished "+c.Range.String()+" of "+p.task.Range.String())
	default:
		if p.attempt.Splitting() {
			p.stage.Preemption.KeptMillis += p.attempt.SlotTime(tx.at)
		}
		tx.finishAttempt(p, eventFinish, c.Output, c.Counters)
	}
	tx.leaveMachine(p)
	return nil
}

// FailAttempt reports that an attempt has failed. A failure at a record is charged to the
// task's budget of skipped records until the budget is used up. Any other failure counts as
// one of the task's tries, unless Uncharged is set.
type FailAttempt struct {
	Attempt   AttemptID `cbor:"Attempt"`
	Failure   Failure   `cbor:"Failure"`
	Uncharged bool      `cbor:"Uncharged"` // the failure does not count as a try of the task
	OnMachine bool      `cbor:"OnMachine"` // its process still runs, and its machine has to kill it

	// BadCheckpoint says that the attempt could not resume from its task's checkpoint, which
	// is dropped. The failure is not charged to the task.
	BadCheckpoint bool `cbor:"BadCheckpoint"`

	// StorageDown says that the storage was not available. See Outage for what this costs.
	StorageDown bool `cbor:"StorageDown"`

	// Unreached names the attempt whose output it could not fetch because the machine with it
	// did not answer; zero for any other failure.
	Unreached AttemptID `cbor:"Unreached,omitzero"`
}

func (c FailAttempt) subject() any { return c.Attempt }

func (c FailAttempt) apply(tx *transition, p taskRef) error {
	if p.attempt.Active() {
		c.fail(tx, p)
	}
	if !c.OnMachine {
		tx.leaveMachine(p)
	}
	return nil
}

// fail ends an active attempt and decides what the failure costs: nothing (Uncharged, an
// outage, or a checkpoint that could not be read), a skipped record, or one of the task's
// tries. Only the last counts against the machine.
func (c FailAttempt) fail(tx *transition, p taskRef) {
	f := c.Failure
	if c.BadCheckpoint && p.rejectCheckpoint() {
		c.Uncharged = true
	}
	if c.StorageDown && !c.Uncharged && p.job.Spec.OutageLimitMillis > 0 {
		if err := tx.noteOutage(p.job); err != nil {
			f.Fatal, f.Cause = true, fmt.Sprintf("%v: %s", err, f.Cause)
		} else {
			c.Uncharged = true
		}
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
	if c.Unreached != (AttemptID{}) {
		tx.noteUnreached(p, c.Unreached, f.Cause)
	}
}

// failBadReport fails an attempt whose last report cannot be true. The task may be tried
// again, because memory that was damaged also gives such reports.
func (tx *transition) failBadReport(p taskRef, problem error) {
	cause := "its last report does not fit the job: " + problem.Error()
	FailAttempt{Attempt: p.attempt.ID, Failure: Failure{Cause: cause, Offset: -1}}.fail(tx, p)
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

// ExitAttempt reports that an attempt's process is gone, and that it neither finished nor
// failed: it was ordered to exit, or ended for a cause outside the task.
type ExitAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"` // shown if the attempt was still active

	// Stuck is set if the attempt ignores the order to exit and its machine cannot kill it.
	// Its job would not end either, so the job fails.
	Stuck *Failure `cbor:"Stuck"`
}

func (c ExitAttempt) subject() any { return c.Attempt }

func (c ExitAttempt) apply(tx *transition, p taskRef) error {
	if p.attempt.Active() {
		tx.endAttempt(p, eventExit, c.Cause)
	}
	tx.leaveMachine(p)
	if c.Stuck != nil {
		tx.recordFailure(p, *c.Stuck)
		if p.job.State < JobAborting {
			tx.abort(p.job, JobFailed, c.Stuck.Cause)
		}
	}
	return nil
}

// KillAttempt orders an attempt to exit. Its task is tried again and not charged.
type KillAttempt struct {
	Attempt AttemptID `cbor:"Attempt"`
	Cause   string    `cbor:"Cause"`
}

func (c KillAttempt) subject() any { return c.Attempt }

func (c KillAttempt) apply(tx *transition, p taskRef) error {
	if !p.attempt.Active() {
		return fmt.Errorf("%w: %v has ended: it is %v", ErrRefused, c.Attempt, p.attempt.Status())
	}
	tx.kill(p, c.Cause)
	return nil
}
