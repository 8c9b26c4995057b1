package cluster

// SetPriority changes the priority of a job; higher goes first.
type SetPriority struct {
	Job      JobID `cbor:"Job"`
	Priority int   `cbor:"Priority"`
}

func (c SetPriority) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	j.Spec.Priority = c.Priority
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}
