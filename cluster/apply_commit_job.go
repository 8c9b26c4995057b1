package cluster

// CommitJob reports that the output of a committing job has its final names: the job has
// succeeded.
type CommitJob struct {
	Job JobID `cbor:"Job"`
}

func (c CommitJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State != JobCommitting {
		return ErrRefused
	}
	if j.Occupied > 0 {
		return errTooEarly
	}
	tx.setJobState(j, JobSucceeded)
	return nil
}
