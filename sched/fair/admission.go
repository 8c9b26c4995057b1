package fair

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// admit decides which jobs may run. It is the only place where the limits of running
// jobs, of users and of pools, are checked; a new kind of limit goes into runningJobs.
//
// Jobs that have started stay admitted: their reduces may occupy slots until their maps have
// run, so sending a job back would waste them. Other jobs are admitted in order, as long as
// the limits allow. A job that is not admitted does not block those behind it, and a
// suspended job does not count. admit returns the jobs for which the answer has changed.
func (p *Policy) admit() (changed []*entry) {
	running := runningJobs{policy: p, users: make(map[string]int), queues: make(map[*queue]int)}
	for _, e := range p.byPriority {
		if e.started && !e.suspended {
			running.add(e)
		}
	}
	for _, e := range p.byPriority {
		admitted := !e.suspended && (e.started || running.fits(e))
		if admitted && !e.started {
			running.add(e)
		}
		if admitted != e.admitted {
			e.admitted = admitted
			changed = append(changed, e)
		}
	}
	return changed
}

// noteStarted marks jobs that got their first slots, and reports whether there are any.
func (p *Policy) noteStarted(started []cluster.AttemptID) (some bool) {
	for _, id := range started {
		if e := p.jobs[id.Task.Job]; e != nil && !e.started {
			e.started, some = true, true
		}
	}
	return some
}

// runningJobs counts the running jobs against the limits.
type runningJobs struct {
	policy *Policy        // policy whose limits count
	users  map[string]int // running jobs by user
	queues map[*queue]int // running jobs by queue, including the queues below
}

// add counts a running job for its user, its queue and all queues above. Without any
// limit it does nothing, since admit visits every job.
func (r *runningJobs) add(e *entry) {
	if !r.policy.conf.Allocations.LimitsRunningJobs() {
		return
	}
	r.users[e.user]++
	for q := e.queue; q != nil; q = q.parent {
		r.queues[q]++
	}
}

// fits reports whether one more job may run, for its user, its queue and all queues
// above that.
func (r *runningJobs) fits(e *entry) bool {
	if !r.policy.conf.Allocations.LimitsRunningJobs() {
		return true
	}
	for q := e.queue; q != nil; q = q.parent {
		if r.queues[q] >= q.MaxRunning {
			return false
		}
	}
	return r.users[e.user] < r.policy.conf.Allocations.UserMaxRunning(e.user)
}

// hasStarted reports whether a job ever got a slot.
func hasStarted(j *cluster.Job) bool {
	return slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return s.Launched > 0 })
}
