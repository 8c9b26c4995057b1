package sim

import (
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/share"
)

// userShares measures for how long users are below their shares, under any policy. All users
// share the slots of a kind equally, and none is due more than it has and could use for tasks
// whose input is complete.
type userShares struct {
	ledger  ledger.Ledger
	users   []string // in the order of their first jobs
	counts  map[string]*userCount
	byJob   map[cluster.JobID]jobCount
	changed bool // a count has changed since the last sample
}

// jobCount is what a job adds to the counts of its user.
type jobCount struct {
	running cluster.Slots
	demand  cluster.Slots // running, and slots for tasks whose input is complete
}

// userCount is a user's slots, and for how long it is below its share.
type userCount struct {
	jobCount
	belowAt [2]int64 // since when, by kind; 0 if it has its share
	longest int64    // ms
}

// watch counts what a change of the state concerns.
func (s *userShares) watch(view cluster.View, delta cluster.Delta) {
	if s.counts == nil {
		s.counts, s.byJob = make(map[string]*userCount), make(map[cluster.JobID]jobCount)
		s.ledger.Reset(view)
	}
	for _, id := range s.ledger.Observe(view, delta) {
		var is jobCount
		if a := s.ledger.Account(id); a != nil {
			is = jobCount{a.Running, a.Running.Plus(a.Ready)}
		}
		was := s.byJob[id]
		if is == was {
			continue
		}
		user := s.of(view.Job(id).Spec.User)
		user.running, user.demand = user.running.Plus(is.running.Minus(was.running)), user.demand.Plus(is.demand.Minus(was.demand))
		s.byJob[id], s.changed = is, true
	}
}

// of returns the count of a user.
func (s *userShares) of(name string) *userCount {
	if s.counts[name] == nil {
		s.counts[name], s.users = new(userCount), append(s.users, name)
	}
	return s.counts[name]
}

// sample compares what users have at the end of a moment with their shares.
func (s *userShares) sample(view cluster.View, now int64) {
	if !s.changed {
		return
	}
	s.changed = false
	slots, claims := s.ledger.Slots(view), make([]share.Claim, len(s.users))
	for kind := range slots {
		for i, name := range s.users {
			claims[i] = share.Claim{Weight: 1, Demand: float64(s.counts[name].demand[kind])}
		}
		for i, due := range share.Fill(float64(slots[kind]), claims) {
			s.counts[s.users[i]].judge(kind, float64(s.counts[s.users[i]].running[kind]) < math.Floor(due), now)
		}
	}
}

// judge records whether a user is below its share of a kind from now on.
func (u *userCount) judge(kind int, below bool, now int64) {
	if at := u.belowAt[kind]; at > 0 {
		u.longest = max(u.longest, now-at)
	}
	switch {
	case !below:
		u.belowAt[kind] = 0
	case u.belowAt[kind] == 0:
		u.belowAt[kind] = now
	}
}

// longest returns the longest time for which a user was below its share, in ms.
func (s *userShares) longest() (ms int64) {
	for _, name := range s.users {
		ms = max(ms, s.counts[name].longest)
	}
	return ms
}
