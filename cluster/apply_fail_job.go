package cluster

// FailJob ends a job for a failure that is not of one attempt: its splits cannot be read, or
// its output cannot be set up or committed.
type FailJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"`
}

func (c FailJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State >= JobAborting {
		return ErrRefused
	}
	tx.abort(j, JobFailed, c.Cause)
	return nil
}
