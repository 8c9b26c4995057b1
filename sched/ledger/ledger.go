// Package ledger keeps the accounts of jobs for policies: the slots that each has
// and wants, brought up to date by what changes alone.
//
//	l.Reset(view)
//	for each applied change {
//		touched := l.Observe(view, delta)
//	}
//
// It is a cache of the state: a Ledger that has just been Reset is equal to one
// that has observed every change.
package ledger

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Ledger is the accounts of all jobs that are not over, or of which attempts are
// still there. It is to be Reset before use.
type Ledger struct {
	accounts   map[cluster.JobID]*Account
	slots      sched.Slots // of all machines
	slotsKnown bool        // slots is up to date
	running    sched.Slots // of all accounts
	leaving    sched.Slots // likewise
}

// Account is what a job has and wants. It is not to be changed.
type Account struct {
	Job    cluster.JobID
	Active bool // the job is not over: its tasks may start, now or later

	Running   sched.Slots // held by attempts that go on
	Leaving   sched.Slots // held by attempts that are told to end, and have not yet
	Waiting   sched.Slots // wanted by tasks that may start or go on now, suspended ones too
	Bundled   int         // of those wanted, by bundles of several slots
	Suspended sched.Slots // wanted by attempts that stand still
	Claims    sched.Slots // Waiting, as far as slots may be taken from others for it

	Attempts map[cluster.AttemptID]Usage // those that hold slots
}

// Usage is what an attempt holds.
type Usage struct {
	Slots   sched.Slots
	Leaving bool
}

// Demand is what the job could use now in all.
func (a *Account) Demand() sched.Slots { return a.Running.Plus(a.Waiting) }

// Occupied is all that others cannot have.
func (a *Account) Occupied() sched.Slots { return a.Running.Plus(a.Leaving) }

// Reset forgets everything and looks at the state afresh.
func (l *Ledger) Reset(view cluster.View) {
	*l = Ledger{accounts: make(map[cluster.JobID]*Account)}
	for j := range view.Jobs() {
		l.open(j)
	}
	for m := range view.Machines() {
		for _, a := range m.Attempts {
			l.update(view, a.ID)
		}
	}
	for id := range l.accounts {
		l.recount(view, id)
	}
}

// Observe takes a change over, and returns the jobs whose accounts may be others
// now, ascending; those that were closed, too.
func (l *Ledger) Observe(view cluster.View, delta cluster.Delta) (touched []cluster.JobID) {
	l.slotsKnown = l.slotsKnown && len(delta.Machines) == 0
	seen := make(map[cluster.JobID]bool)
	for _, ids := range [][]cluster.JobID{delta.Jobs, delta.Retired} {
		for _, id := range ids {
			l.open(view.Job(id))
			seen[id] = true
		}
	}
	for _, ids := range [][]cluster.AttemptID{delta.Started, delta.Ended, delta.OrdersChanged, delta.Freed, delta.Published, delta.Revoked} {
		for _, id := range ids {
			l.update(view, id)
			seen[id.Task.Job] = true
		}
	}
	for id := range seen {
		l.recount(view, id)
	}
	return slices.SortedFunc(maps.Keys(seen), cluster.JobID.Compare)
}

// Account is that of a job; nil when it has none.
func (l *Ledger) Account(id cluster.JobID) *Account { return l.accounts[id] }

// Accounts are all, in the order of their jobs' submission.
func (l *Ledger) Accounts() []*Account {
	return slices.SortedFunc(maps.Values(l.accounts), func(a, b *Account) int { return a.Job.Compare(b.Job) })
}

// Slots is how many all machines have that may be given out.
func (l *Ledger) Slots(view cluster.View) sched.Slots {
	if !l.slotsKnown {
		l.slots, l.slotsKnown = sched.Slots{}, true
		for m := range view.Machines() {
			l.slots = l.slots.Plus(m.Slots)
		}
	}
	return l.slots
}

// Running is what attempts of all jobs hold that go on.
func (l *Ledger) Running() sched.Slots { return l.running }

// Leaving is what attempts of all jobs hold that are told to end.
func (l *Ledger) Leaving() sched.Slots { return l.leaving }

// open makes an account for a job that has none.
func (l *Ledger) open(j *cluster.Job) {
	if j == nil || l.accounts[j.ID] != nil || !isActive(j) && j.Occupied == 0 {
		return
	}
	l.accounts[j.ID] = &Account{Job: j.ID, Attempts: make(map[cluster.AttemptID]Usage)}
}

func isActive(j *cluster.Job) bool { return j != nil && j.State < cluster.JobCommitting }

// update notes what has become of an attempt.
func (l *Ledger) update(view cluster.View, id cluster.AttemptID) {
	account := l.accounts[id.Task.Job]
	if account == nil {
		return
	}
	if was, ok := account.Attempts[id]; ok {
		delete(account.Attempts, id)
		l.add(account, was, -1)
	}
	_, _, a, ok := view.Attempt(id)
	if !ok || !a.HoldsSlot() {
		return
	}
	_, stage, _, _ := view.Task(id.Task)
	is := Usage{Slots: stage.Slots, Leaving: !a.Active() || a.Preempting()}
	account.Attempts[id] = is
	l.add(account, is, 1)
}

func (l *Ledger) add(a *Account, h Usage, sign int) {
	slots := h.Slots.Times(sign)
	if h.Leaving {
		a.Leaving, l.leaving = a.Leaving.Plus(slots), l.leaving.Plus(slots)
	} else {
		a.Running, l.running = a.Running.Plus(slots), l.running.Plus(slots)
	}
}

// recount counts what a job wants, and closes its account when it has nothing and
// never will.
func (l *Ledger) recount(view cluster.View, id cluster.JobID) {
	account := l.accounts[id]
	if account == nil {
		return
	}
	j := view.Job(id)
	account.Active = isActive(j)
	account.Waiting, account.Suspended, account.Claims, account.Bundled = sched.Slots{}, sched.Slots{}, sched.Slots{}, 0
	if account.Active {
		account.countWants(j)
	} else if len(account.Attempts) == 0 {
		delete(l.accounts, id)
	}
}

func (a *Account) countWants(j *cluster.Job) {
	for w := range sched.Wants(j) {
		a.Waiting = a.Waiting.Plus(w.TotalNeed())
		if w.Bundle != nil {
			a.Bundled += w.TotalNeed().Sum()
		}
	}
	if !j.Spec.Passive {
		a.Claims = a.Waiting
	}
	for _, s := range j.Stages {
		a.Suspended = a.Suspended.Plus(sched.Slots(s.Slots).Times(len(s.Suspended())))
	}
}
