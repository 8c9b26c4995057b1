package cluster

import "fmt"

// EndOutagePause lets tasks of a job start again after the pause in an outage.
type EndOutagePause struct {
	Job JobID `cbor:"Job"`
}

func (c EndOutagePause) subject() any { return c.Job }

func (c EndOutagePause) apply(tx *transition, p taskRef) error {
	o := &p.job.Outage
	switch {
	case o.PausedUntil == 0:
		return fmt.Errorf("%w: %v is not paused", ErrRefused, c.Job)
	case tx.at < o.PausedUntil:
		return fmt.Errorf("%w: %v is paused for another %d ms", ErrRefused, c.Job, o.PausedUntil-tx.at)
	}
	o.PausedUntil = 0
	p.job.hideTasks()
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}
