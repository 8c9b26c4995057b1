// Package ledger keeps an account of each job for policies: the slots that the job has
// and wants. It is updated from what each command changed:
//
//	l.Reset(view)
//	for each applied command {
//	touched := l.Observe(view, delta)
//	}
//
// A Ledger is a cache of the state: after a Reset it equals a Ledger that has observed every
// change.
package ledger

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Ledger contains the accounts of all jobs that are not over or that still have attempts.
// Call Reset before any other method.
type Ledger struct {
	accounts   map[cluster.JobID]*Account
	slots      cluster.Slots // slots of all machines
	slotsKnown bool          // slots is up to date
	running    cluster.Slots // sum over all accounts
	leaving    cluster.Slots // sum over all accounts
}

// Account counts the slots that a job has and wants. It is read-only for callers.
type Account struct {
	Job    cluster.JobID
	Active bool // the job is not over: its tasks may start, now or later

	Running   cluster.Slots // slots of attempts that keep running
	Leaving   cluster.Slots // slots of attempts that were ordered to end and have not ended yet
	Waiting   cluster.Slots // slots wanted by tasks that may start now and by suspended attempts
	Ready     cluster.Slots // the part of Waiting for tasks whose input is complete
	Bundled   int           // the part of Waiting that bundles want, summed over both kinds
	Suspended cluster.Slots // the part of Waiting that suspended attempts want
	Claims    cluster.Slots // Waiting, or zero if no slots may be taken from others for the job

	Attempts map[cluster.AttemptID]Usage // attempts with slots
}

// Usage describes the slots of an attempt.
type Usage struct {
	Slots   cluster.Slots
	Leaving bool
}

// Demand returns the total number of slots that the job could use now.
func (a *Account) Demand() cluster.Slots { return a.Running.Plus(a.Waiting) }

// Occupied returns the slots that the job keeps from others.
func (a *Account) Occupied() cluster.Slots { return a.Running.Plus(a.Leaving) }

// Reset rebuilds all accounts from the view.
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

// Observe updates the accounts after one applied command. It returns the jobs whose
// accounts may have changed, ascending, including those whose accounts it closed.
func (l *Ledger) Observe(view cluster.View, delta cluster.Delta) (touched []cluster.JobID) {
	l.slotsKnown = l.slotsKnown && len(delta.Machines) == 0
	seen := make(map[cluster.JobID]bool)
	for _, id := range slices.Concat(delta.Jobs, delta.Retired) {
		l.open(view.Job(id))
		seen[id] = true
	}
	for _, id := range slices.Concat(delta.Started, delta.Ended, delta.OrdersChanged, delta.Freed, delta.Published, delta.Revoked) {
		l.update(view, id)
		seen[id.Task.Job] = true
	}
	for id := range seen {
		l.recount(view, id)
	}
	return slices.SortedFunc(maps.Keys(seen), cluster.JobID.Compare)
}

// Account returns the account of a job; nil if it has none.
func (l *Ledger) Account(id cluster.JobID) *Account { return l.accounts[id] }

// Accounts returns all accounts, in the order in which their jobs were submitted.
func (l *Ledger) Accounts() []*Account {
	return slices.SortedFunc(maps.Values(l.accounts), func(a, b *Account) int { return a.Job.Compare(b.Job) })
}

// Slots returns the slots of all machines that can be given out.
func (l *Ledger) Slots(view cluster.View) cluster.Slots {
	if !l.slotsKnown {
		l.slots, l.slotsKnown = cluster.Slots{}, true
		for m := range view.Machines() {
			l.slots = l.slots.Plus(m.Slots)
		}
	}
	return l.slots
}

// Running returns Account.Running summed over all jobs.
func (l *Ledger) Running() cluster.Slots { return l.running }

// Leaving returns Account.Leaving summed over all jobs.
func (l *Ledger) Leaving() cluster.Slots { return l.leaving }

// LeavingSlots returns the slots of a kind whose attempts were ordered to end.
func (l *Ledger) LeavingSlots(kind cluster.Slot) *LeavingSlots {
	return &LeavingSlots{l, kind, make(map[string]int)}
}

// LeavingSlots counts slots that are about to come free and that nothing is to get yet.
type LeavingSlots struct {
	ledger *Ledger
	kind   cluster.Slot
	left   map[string]int // by machine
}

// Take counts a slot of a machine as given. It returns false if none is left.
func (s *LeavingSlots) Take(m *cluster.Machine) bool {
	n, known := s.left[m.Name]
	for i := 0; !known && i < len(m.Attempts); i++ {
		id := m.Attempts[i].ID
		if account := s.ledger.accounts[id.Task.Job]; account != nil && account.Attempts[id].Leaving {
			n += account.Attempts[id].Slots[s.kind]
		}
	}
	s.left[m.Name] = max(n-1, 0)
	return n > 0
}

// open adds an account for a job that has none and needs one.
func (l *Ledger) open(j *cluster.Job) {
	if j == nil || l.accounts[j.ID] != nil || !isActive(j) && j.Occupied == 0 {
		return
	}
	l.accounts[j.ID] = &Account{Job: j.ID, Attempts: make(map[cluster.AttemptID]Usage)}
}

// isActive reports whether tasks of a job may still start.
func isActive(j *cluster.Job) bool { return j != nil && j.State < cluster.JobCommitting }

// update counts the slots of an attempt again.
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
	if !ok || !a.OccupiesSlot() {
		return
	}
	_, stage, _, _ := view.Task(id.Task)
	is := Usage{Slots: stage.Slots, Leaving: !a.Active() || a.Preempting()}
	account.Attempts[id] = is
	l.add(account, is, 1)
}

// add adds the slots of an attempt to the counts, or with sign -1 subtracts them.
func (l *Ledger) add(a *Account, h Usage, sign int) {
	slots := h.Slots.Times(sign)
	if h.Leaving {
		a.Leaving, l.leaving = a.Leaving.Plus(slots), l.leaving.Plus(slots)
	} else {
		a.Running, l.running = a.Running.Plus(slots), l.running.Plus(slots)
	}
}

// recount counts what a job wants. It closes the account if the job is over and has no
// attempts left.
func (l *Ledger) recount(view cluster.View, id cluster.JobID) {
	account := l.accounts[id]
	if account == nil {
		return
	}
	j := view.Job(id)
	account.Active = isActive(j)
	account.Waiting, account.Ready, account.Suspended, account.Claims, account.Bundled = cluster.Slots{}, cluster.Slots{}, cluster.Slots{}, cluster.Slots{}, 0
	if account.Active {
		account.countWants(j)
	} else if len(account.Attempts) == 0 {
		delete(l.accounts, id)
	}
}

func (a *Account) countWants(j *cluster.Job) {
	for w := range sched.Wants(j) {
		a.Waiting = a.Waiting.Plus(w.TotalNeed())
		if !w.Stage.StartsEarly() {
			a.Ready = a.Ready.Plus(w.TotalNeed())
		}
		if w.Bundle != nil {
			a.Bundled += w.TotalNeed().Total()
		}
	}
	if !j.Spec.Passive {
		a.Claims = a.Waiting
	}
	for _, s := range j.Stages {
		a.Suspended = a.Suspended.Plus(s.Slots.Times(len(s.Suspended())))
	}
}
