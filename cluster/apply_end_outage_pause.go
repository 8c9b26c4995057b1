package cluster

import "fmt"

// EndOutagePause lets tasks of a job start again after the pause in an outage.
type EndOutagePause struct {
	Job JobID `cbor:"Job"`
}

func (c EndOutagePause) subject() any { return c.Job }

func (c EndOutagePause) apply(tx *transition, p taskRef) error {
	o := &p.job.Outage
	if o.PausedUntil == 0 || tx.at < o.PausedUntil {
		return fmt.Errorf("%w: %v is paused until %d", ErrRefused, c.Job, o.PausedUntil)
	}
	o.PausedUntil = 0
	p.job.hideTasks()
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}
