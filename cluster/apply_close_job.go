package cluster

// CloseJob reports that the output of an aborting job is removed: it has failed, or is
// killed.
type CloseJob struct {
	Job JobID `cbor:"Job"`
}

func (c CloseJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State != JobAborting {
		return ErrRefused
	}
	if j.Occupied > 0 {
		return errTooEarly
	}
	tx.setJobState(j, j.Outcome)
	return nil
}
