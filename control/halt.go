package control

import "github.com/hammr/hammr/cluster"

// updateJobTimeouts stops the timeouts of a suspended job's attempts, which may wait for
// tasks of the job that get no slots. It restarts them when the job is resumed.
func (c *Controller) updateJobTimeouts(now int64, id cluster.JobID) {
	j := c.view.Job(id)
	if suspended := j != nil && j.Suspended; suspended == c.suspendedJobs[id] {
		return
	} else if !suspended {
		delete(c.suspendedJobs, id)
	} else {
		if c.suspendedJobs == nil {
			c.suspendedJobs = make(map[cluster.JobID]bool)
		}
		c.suspendedJobs[id] = true
	}
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			switch {
			case a.ID.Task.Job != id:
			case c.suspendedJobs[id]:
				c.timeouts.remove(a.ID)
			default:
				c.startTimeout(now, a)
			}
		}
	}
}

// startTimeout starts the timeout of an attempt that can make progress.
func (c *Controller) startTimeout(now int64, a *cluster.Attempt) {
	j := c.view.Job(a.ID.Task.Job)
	if a.Active() && !a.Suspended() && !j.Suspended {
		c.timeouts.add(now, a.ID, j.Spec.TimeoutMillis)
	}
}
