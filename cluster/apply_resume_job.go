package cluster

import "fmt"

// ResumeJob lets tasks of a suspended job get slots again.
type ResumeJob struct {
	Job JobID `cbor:"Job"`
}

func (c ResumeJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if !j.Suspended {
		return fmt.Errorf("%w: %v is not suspended", ErrRefused, c.Job)
	}
	j.setSuspended(false)
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}
