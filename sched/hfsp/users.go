package hfsp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/share"
)

// users keeps the shares of users. All users with work share the slots of a kind equally, and
// none gets more than it can use (max-min fairness). A user may be below its share for
// Config.ShareMillis, because the order of jobs is that of HFSP. Then it is owed its share:
// it gets slots before all others, until it has had its share for a third of that time:
//
//	even ──▶ below ──ShareMillis──▶ owed ──has its share for ShareMillis/3──▶ even
//	  ▲────────╯ has its share
//
// So a user with work has its share at least a quarter of the time, if slots come free. The
// clocks are not in the replicated state: Reset restarts them.
type users struct {
	millis  int64 // Config.ShareMillis; 0 keeps no shares
	byName  map[string]*user
	counted map[cluster.JobID]usage // what each job adds to the counts of its user
}

// usage is what a job has and can use.
type usage struct {
	user            *user
	running, demand cluster.Slots
}

// user is a user with jobs that have or want slots.
type user struct {
	name    string
	jobs    int           // jobs that are counted
	running cluster.Slots // slots of attempts that keep running
	demand  cluster.Slots // running, and slots for tasks that start alone and may preempt
	shares  [2]userShare  // by kind
}

// userShare is the share of a user in the slots of a kind, and its clock.
type userShare struct {
	slots   float64 // fair share, at most the demand
	belowAt int64   // since when it is below its share or is owed it, ms; 0 if it is even
	evenAt  int64   // since when it has its share again, ms; 0 if it is below it or belowAt is 0
	kept    int64   // ms for which it has had its share since belowAt
}

// reset drops everything.
func (u *users) reset(millis int64) {
	*u = users{millis: max(millis, 0), byName: make(map[string]*user), counted: make(map[cluster.JobID]usage)}
}

// count counts a job of a user. A job without slots and demand is dropped.
func (u *users) count(id cluster.JobID, name string, running, demand cluster.Slots) {
	if was, ok := u.counted[id]; ok {
		was.user.running, was.user.demand = was.user.running.Minus(was.running), was.user.demand.Minus(was.demand)
		delete(u.counted, id)
		if was.user.jobs--; was.user.jobs == 0 && (was.user.name != name || demand.IsZero()) {
			delete(u.byName, was.user.name)
		}
	}
	if demand.IsZero() {
		return
	}
	to := u.byName[name]
	if to == nil {
		to = &user{name: name}
		u.byName[name] = to
	}
	to.jobs++
	to.running, to.demand = to.running.Plus(running), to.demand.Plus(demand)
	u.counted[id] = usage{to, running, demand}
}

// target returns how many slots a user is due while it is owed its share: the share rounded
// down, but at least one slot.
func (u *user) target(kind cluster.Slot) int {
	if u.demand[kind] == 0 {
		return 0
	}
	return max(int(math.Floor(u.shares[kind].slots)), 1)
}

// lacks returns how many slots a user is below its share.
func (u *user) lacks(kind cluster.Slot) int { return max(u.target(kind)-u.running[kind], 0) }

// isOwed reports whether a user has been below its share for too long.
func (u *user) isOwed(kind cluster.Slot, now, millis int64) bool {
	s := u.shares[kind]
	return s.belowAt > 0 && now-s.belowAt >= millis
}

// refresh divides the slots of a kind among the users and sets their clocks. wake is the time
// at which the next user may be owed its share.
func (u *users) refresh(now int64, kind cluster.Slot, slots float64) (wake int64) {
	if u.millis == 0 {
		return 0
	}
	list := u.list()
	claims := make([]share.Claim, len(list))
	for i, of := range list {
		claims[i] = share.Claim{Weight: 1, Demand: float64(of.demand[kind])}
	}
	for i, slots := range share.Fill(slots, claims) {
		list[i].shares[kind].slots = slots
		list[i].setClock(now, kind, u.millis)
		if s := list[i].shares[kind]; s.belowAt > 0 && s.belowAt+u.millis > now {
			wake = sched.Earliest(wake, s.belowAt+u.millis)
		}
	}
	return wake
}

// setClock passes to the next state of the diagram at users.
func (u *user) setClock(now int64, kind cluster.Slot, millis int64) {
	s, owed, below := &u.shares[kind], u.isOwed(kind, now, millis), u.lacks(kind) > 0
	if s.evenAt > 0 && now > s.evenAt {
		s.kept, s.evenAt = s.kept+now-s.evenAt, now
		if !owed || s.kept >= kept(millis) {
			s.belowAt, s.evenAt, s.kept = 0, 0, 0
		}
	}
	switch {
	case below && s.belowAt == 0:
		s.belowAt = now
	case below:
		s.evenAt = 0
	case s.belowAt > 0 && s.evenAt == 0:
		s.evenAt = now
	}
}

// kept returns for how long a user keeps the share that it was owed, in ms.
func kept(millis int64) int64 { return max(millis/3, 1) }

// explain describes the share of a user in the slots of a kind, and its clock.
func (u *user) explain(now int64, kind cluster.Slot, millis int64) string {
	s := u.shares[kind]
	text := fmt.Sprintf("%.1f slots, of which it has %d", s.slots, u.running[kind])
	switch {
	case u.isOwed(kind, now, millis) && s.evenAt > 0:
		left := kept(millis) - s.kept - (now - s.evenAt)
		text += fmt.Sprintf("; it keeps them for %s s, since it was below its share for too long", seconds(float64(left)))
	case u.isOwed(kind, now, millis):
		text += fmt.Sprintf("; it gets slots first, since it has been below its share for %s s", seconds(float64(now-s.belowAt)))
	case s.belowAt > 0 && s.evenAt == 0:
		text += fmt.Sprintf("; it gets slots first if it stays below its share for %s s", seconds(float64(s.belowAt+millis-now)))
	}
	return text
}

// list returns all users, by name.
func (u *users) list() []*user {
	list := make([]*user, 0, len(u.byName))
	for _, of := range u.byName {
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b *user) int { return cmp.Compare(a.name, b.name) })
	return list
}

// owed returns the users that are owed their shares, those that have waited longest first.
func (u *users) owed(now int64, kind cluster.Slot) []*user {
	if u.millis == 0 {
		return nil
	}
	list := slices.DeleteFunc(u.list(), func(of *user) bool { return !of.isOwed(kind, now, u.millis) })
	slices.SortStableFunc(list, func(a, b *user) int { return cmp.Compare(a.shares[kind].belowAt, b.shares[kind].belowAt) })
	return list
}

// of returns the user of a phase; nil if its job has and wants no slots.
func (u *users) of(p *phase) *user { return u.counted[p.id.job].user }

// countUser counts a job for its user.
func (p *Policy) countUser(view cluster.View, id cluster.JobID) {
	if p.users.millis == 0 {
		return
	}
	var running, demand cluster.Slots
	if account := p.ledger.Account(id); account != nil {
		running, demand = account.Running, account.Running
		for kind := range demand {
			if ph := p.phases[phaseID{id, cluster.Slot(kind)}]; ph != nil && !ph.over && account.Claims[kind] > 0 {
				demand[kind] += ph.alone
			}
		}
	}
	name := ""
	if j := view.Job(id); j != nil {
		name = j.Spec.User
	}
	p.users.count(id, name, running, demand)
}

// Explain implements sched.Explainer.
func (p *Policy) Explain(now int64, view sched.View, job *cluster.Job) []sched.Detail {
	details := p.model.Explain(now, view, job)
	u := p.users.counted[job.ID].user
	for kind := range p.queues {
		if u != nil && u.demand[kind] > 0 {
			name := cluster.Slot(kind).String() + " share of the user"
			details = append(details, sched.Detail{Name: name, Value: u.explain(now, cluster.Slot(kind), p.users.millis)})
		}
	}
	return details
}

// Precedes implements sched.JobComparer: jobs of a user that is owed slots of its share precede
// those of others, which take none of these slots. Otherwise the order is HFSP's.
func (p *Policy) Precedes(now int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	to, from := p.users.counted[a.ID].user, p.users.counted[b.ID].user
	if to != from {
		if from != nil && from.isOwed(kind, now, p.users.millis) && from.running[kind] <= from.target(kind) {
			return false
		}
		if to != nil && to.isOwed(kind, now, p.users.millis) && to.lacks(kind) > 0 {
			return true
		}
	}
	return p.model.Precedes(now, view, kind, a, b)
}
