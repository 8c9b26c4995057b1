package fair

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// admit lets jobs run. Those that have begun go on: their reduces may hold slots
// until their maps have some, so that none is sent back for another. Of the others
// as many begin, in their order, as users and pools may have beside these. One that
// may not is in the way of none behind it, nor is one that is suspended: it takes
// nobody's place. The answer is the jobs for which that has changed.
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

// noteStarted notes jobs that are given their first slots, and reports whether there are
// any.
func (p *Policy) noteStarted(started []cluster.AttemptID) (some bool) {
	for _, id := range started {
		if e := p.jobs[id.Task.Job]; e != nil && !e.started {
			e.started, some = true, true
		}
	}
	return some
}

// runningJobs is how many jobs run, as far as there are limits.
type runningJobs struct {
	policy *Policy
	users  map[string]int
	queues map[*queue]int // with the queues in them
}

func (t *runningJobs) add(e *entry) {
	if !t.policy.conf.Allocations.LimitsRunningJobs() {
		return
	}
	t.users[e.user]++
	for q := e.queue; q != nil; q = q.parent {
		t.queues[q]++
	}
}

// fits reports whether one job more may run, for its user, its queue and all that
// this is in.
func (t *runningJobs) fits(e *entry) bool {
	if !t.policy.conf.Allocations.LimitsRunningJobs() {
		return true
	}
	for q := e.queue; q != nil; q = q.parent {
		if t.queues[q] >= q.MaxRunning {
			return false
		}
	}
	return t.users[e.user] < t.policy.conf.Allocations.UserMaxRunning(e.user)
}

// hasStarted reports whether a job was ever given a slot.
func hasStarted(j *cluster.Job) bool {
	return slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return s.Launched > 0 })
}
