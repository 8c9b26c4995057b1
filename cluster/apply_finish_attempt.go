package cluster

import "github.com/hammr/hammr/dag"

// FinishAttempt reports that an attempt has processed Range and exited. The first attempt
// that finishes a task wins. An attempt whose range is not the task's is killed; one that
// had ended before only leaves its slot.
type FinishAttempt struct {
	Attempt  AttemptID `cbor:"Attempt"`
	Range    dag.Range `cbor:"Range"` // zero for tasks that read no split
	Output   Manifest  `cbor:"Output"`
	Counters []Counter `cbor:"Counters"`
}

func (c FinishAttempt) apply(tx *transition) error {
	p, err := tx.attempt(c.Attempt)
	if err != nil {
		return err
	}
	switch {
	case !p.attempt.Active():
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
