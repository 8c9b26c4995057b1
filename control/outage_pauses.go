package control

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// outagePauses are the ends of the pauses of jobs whose attempts have reported an outage of
// the storage, in ms since the epoch. A new leader takes them from the state.
type outagePauses map[cluster.JobID]int64

// update records the pause of a job; j is nil for a retired job.
func (p outagePauses) update(id cluster.JobID, j *cluster.Job) {
	if delete(p, id); j != nil && j.Outage.PausedUntil != 0 {
		p[id] = j.Outage.PausedUntil
	}
}

// next returns the earliest end; 0 if no job is paused.
func (p outagePauses) next() (at int64) {
	for _, end := range p {
		at = sched.Earliest(at, end)
	}
	return at
}

// endOutagePauses proposes the end of each pause that is over.
func (c *Controller) endOutagePauses(now int64) {
	if at := c.outagePauses.next(); at == 0 || at > now {
		return // sorting the jobs in every step of an outage takes too long
	}
	for _, id := range slices.SortedFunc(maps.Keys(c.outagePauses), cluster.JobID.Compare) {
		if c.outagePauses[id] <= now {
			delete(c.outagePauses, id)
			c.enqueue(cluster.EndOutagePause{Job: id})
		}
	}
}
