package control

import "github.com/hammr/hammr/cluster"

// halt stops the clocks of what still runs of a job that is suspended: it may wait
// for tasks of the job that get no slots. It winds them up when the job is resumed.
func (c *Controller) halt(now int64, id cluster.JobID) {
	j := c.view.Job(id)
	if suspended := j != nil && j.Suspended; suspended == c.halted[id] {
		return
	} else if !suspended {
		delete(c.halted, id)
	} else {
		if c.halted == nil {
			c.halted = make(map[cluster.JobID]bool)
		}
		c.halted[id] = true
	}
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			switch {
			case a.ID.Task.Job != id:
			case c.halted[id]:
				c.watch.remove(a.ID)
			default:
				c.watchOver(now, a)
			}
		}
	}
}

// watchOver begins to watch an attempt that runs and that nothing keeps from coming
// further.
func (c *Controller) watchOver(now int64, a *cluster.Attempt) {
	j := c.view.Job(a.ID.Task.Job)
	if a.State == cluster.AttemptRunning && !a.Suspended && !j.Suspended {
		c.watch.add(now, a.ID, j.Spec.TimeoutMillis)
	}
}
