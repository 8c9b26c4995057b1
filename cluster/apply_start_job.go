package cluster

// StartJob reports that the job's splits are loaded and its output is set up: its tasks may
// start.
type StartJob struct {
	Job JobID `cbor:"Job"`
}

func (c StartJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State != JobPrep {
		return ErrRefused
	}
	j.StartedAt = tx.at
	tx.setJobState(j, JobRunning)
	tx.commitWhenDone(j)
	return nil
}
