package cluster

// KillJob ends a job that has not ended by itself.
type KillJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"`
}

func (c KillJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State >= JobAborting {
		return ErrRefused
	}
	tx.abort(j, JobKilled, c.Cause)
	return nil
}
