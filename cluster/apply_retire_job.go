package cluster

import "fmt"

// RetireJob removes a finished job from the state after its history is written. Its number
// is not used again.
type RetireJob struct {
	Job JobID `cbor:"Job"`
}

func (c RetireJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if !j.State.Final() {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, j.State)
	}
	tx.jobs[c.Job.Number-1] = nil
	tx.delta.Retired = append(tx.delta.Retired, c.Job)
	return nil
}
