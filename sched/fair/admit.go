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
	running := tenants{policy: p, users: make(map[string]int), queues: make(map[*queue]int)}
	for _, e := range p.line {
		if e.begun && !e.suspended {
			running.add(e)
		}
	}
	for _, e := range p.line {
		admitted := !e.suspended && (e.begun || running.fits(e))
		if admitted && !e.begun {
			running.add(e)
		}
		if admitted != e.admitted {
			e.admitted = admitted
			changed = append(changed, e)
		}
	}
	return changed
}

// begin notes jobs that are given their first slots, and reports whether there are
// any.
func (p *Policy) begin(started []cluster.AttemptID) (some bool) {
	for _, id := range started {
		if e := p.jobs[id.Task.Job]; e != nil && !e.begun {
			e.begun, some = true, true
		}
	}
	return some
}

// tenants is how many jobs run, as far as there are limits.
type tenants struct {
	policy *Policy
	users  map[string]int
	queues map[*queue]int // with the queues in them
}

func (t *tenants) add(e *entry) {
	if !t.policy.conf.Allocations.Limited() {
		return
	}
	t.users[e.user]++
	for q := e.queue; q != nil; q = q.parent {
		t.queues[q]++
	}
}

// fits reports whether one job more may run, for its user, its queue and all that
// this is in.
func (t *tenants) fits(e *entry) bool {
	if !t.policy.conf.Allocations.Limited() {
		return true
	}
	for q := e.queue; q != nil; q = q.parent {
		if t.queues[q] >= q.MaxRunning {
			return false
		}
	}
	return t.users[e.user] < t.policy.conf.Allocations.UserMax(e.user)
}

// hasBegun reports whether a job was ever given a slot.
func hasBegun(j *cluster.Job) bool {
	return slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return s.Launched > 0 })
}
