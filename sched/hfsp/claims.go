package hfsp

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/victim"
)

// claims takes slots of one kind from phases that have more than they are due, for phases
// that have less (the paper, section 3.4). Claims are computed from the present state in
// each decision, so a claim disappears if a victim ends by itself, or if a phase with
// precedence arrives.
//
//	gather    phases with slots, and as many that want slots as can be due any
//	share     how many slots each is due, in the order of the allocator
//	run       for each that has fewer, in order: slots on the machines of its suspended
//	          attempts, then slots that come free, then those of the phase that finishes last
type claims struct {
	policy *Policy
	now    int64
	view   sched.View
	kind   cluster.Slot

	claimants []*claimant // in order
	byPhase   map[*phase]*claimant
	lost      map[*phase]int // slots that phases lose by the claims of the other kind
	finder    *victim.Finder // shared by both kinds: an attempt is taken once
	leaving   *ledger.LeavingSlots
	coming    int // slots that are free or about to come free, and not claimed
	suspended int // slots of attempts that are suspended, or are about to be

	lacking bool  // a phase lacks slots
	wake    int64 // when more slots may be taken even if nothing changes; 0 is never
}

// claimant is a phase that has slots or wants some.
type claimant struct {
	*phase
	had, has int  // slots, without and with those that it is about to get
	due      int  // slots that it should have
	owed     int  // the part of due that its user is owed (users.go)
	gained   int  // slots that it is about to get from others
	more     int  // further slots that it wants for tasks that start alone
	first    bool // it precedes the order: it wants slots for samples, or it is late

	victims  []victim.Victim // its victims, the youngest first; valid if searched is set
	searched bool
}

// A phase loses slots to another only if it finishes later in the virtual cluster by these
// margins. Sizes are inexact. Without margins, a phase whose guessed size is too small would
// get slots and soon lose them again.
const (
	marginPart   = 0.05 // fraction of the remaining time
	marginMillis = 1000
)

// newClaims computes the slots that each phase is due after a plan's starts and resumes.
func newClaims(p *Policy, now int64, view sched.View, kind cluster.Slot, plan sched.Plan) *claims {
	c := &claims{policy: p, now: now, view: view, kind: kind, byPhase: make(map[*phase]*claimant)}
	c.leaving, c.lost, c.suspended = p.ledger.LeavingSlots(kind), c.lostBy(plan.Preempts), p.queues[kind].suspended
	c.gather(c.got(plan))
	return c
}

// gather collects the phases that have slots, and the first phases in order that want slots,
// as many as can be due any.
func (c *claims) gather(got map[*phase]int) {
	p, total := c.policy, int(c.policy.virtual[c.kind].slots)
	q := p.inLine(c.kind)
	if !slices.ContainsFunc(q.wanting, func(ph *phase) bool { return ph.alone > got[ph] }) {
		return
	}
	c.coming = total
	for _, ph := range q.occupying {
		c.add(ph, got[ph])
	}
	for ph, n := range got {
		c.add(ph, n)
	}
	for _, s := range p.sampling(c.kind) {
		c.add(s.phase, got[s.phase])
	}
	for ph := range p.late(c.now, q.wanting) {
		c.add(ph, got[ph])
	}
	for _, u := range p.users.owed(c.now, c.kind) {
		c.addOwed(u, got)
	}
	demand := 0
	for _, ph := range q.wanting {
		if demand >= total {
			break
		}
		demand += c.add(ph, got[ph]).demand()
	}
	c.coming = max(c.coming, 0)
	slices.SortFunc(c.claimants, func(a, b *claimant) int { return p.compare(a.phase, b.phase) })
	c.share(total)
}

// addOwed adds the phases of a user that can be due slots of its share.
func (c *claims) addOwed(u *user, got map[*phase]int) {
	left := u.lacks(c.kind)
	for _, ph := range c.policy.inLine(c.kind).wanting {
		if left <= 0 {
			return
		}
		if c.policy.users.of(ph) == u {
			left -= c.add(ph, got[ph]).more
		}
	}
}

// add returns the claimant of a phase, and creates it on first use.
func (c *claims) add(p *phase, got int) *claimant {
	cl := c.byPhase[p]
	if cl == nil {
		had := c.policy.running(p) - c.lost[p]
		cl = &claimant{phase: p, had: had, has: had + got, more: max(p.alone-got, 0)}
		c.byPhase[p] = cl
		c.claimants = append(c.claimants, cl)
		c.coming -= cl.has
	}
	return cl
}

// got returns the number of slots that each phase is about to get from the plan.
func (c *claims) got(plan sched.Plan) map[*phase]int {
	got := make(map[*phase]int)
	count := func(id cluster.TaskID) {
		if _, stage, _, ok := c.view.Task(id); ok {
			if ph := c.policy.phases[phaseID{id.Job, c.kind}]; ph != nil {
				got[ph] += stage.Slots[c.kind]
			}
		}
	}
	for s := range plan.AllStarts() {
		count(s.Task)
	}
	for id := range plan.AllResumes() {
		count(id.Task)
	}
	return got
}

// lostBy returns the number of slots that each phase loses by preemptions of gangs, which have slots of
// both kinds.
func (c *claims) lostBy(preempts []sched.Preempt) map[*phase]int {
	lost := make(map[*phase]int)
	for _, p := range preempts {
		_, _, first, _ := c.view.Attempt(p.Attempt)
		for _, a := range c.view.GangOf(first) {
			_, stage, _, _ := c.view.Task(a.ID.Task)
			lost[c.policy.phases[phaseID{a.ID.Task.Job, c.kind}]] += stage.Slots[c.kind]
		}
	}
	return lost
}

// share computes how many slots each claimant would be due if all slots were free, in the
// order of the allocator.
func (c *claims) share(slots int) {
	slots -= c.shareOwed(slots)
	for _, s := range c.policy.sampling(c.kind) {
		cl := c.byPhase[s.phase]
		more := min(max(cl.had+s.slots-cl.due, cl.has-cl.due, 0), slots)
		cl.due, cl.first = cl.due+more, true
		slots -= more
	}
	for _, cl := range c.claimants {
		if cl.listed.trainee && !cl.first { // there are no slots for more samples
			more := min(max(cl.has-cl.due, 0), slots)
			cl.due += more
			slots -= more
		}
	}
	var late []*portion
	for _, cl := range c.claimants {
		if cl.late(c.now) {
			late = append(late, &portion{phase: cl.phase, slots: cl.due, demand: cl.demand()})
		}
	}
	spread(slots, late)
	for _, l := range late {
		cl := c.byPhase[l.phase]
		slots -= l.slots - cl.due
		cl.due, cl.first = l.slots, true
	}
	for _, cl := range c.claimants {
		if !cl.late(c.now) {
			lacks := min(cl.demand()-cl.due, slots)
			cl.due += lacks
			slots -= lacks
		}
	}
}

// shareOwed makes users that are owed their shares due these slots, and returns how many.
func (c *claims) shareOwed(slots int) (sum int) {
	for _, u := range c.policy.users.owed(c.now, c.kind) {
		left := min(u.target(c.kind), slots-sum)
		for _, cl := range c.claimants {
			if n := min(left, cl.demand()); n > 0 && c.policy.users.of(cl.phase) == u {
				cl.due, cl.owed = n, n
				left, sum = left-n, sum+n
			}
		}
	}
	return sum
}

// demand returns the slots that a phase has, and those that it wants for tasks that start
// alone. Bundles do not preempt.
func (cl *claimant) demand() int { return cl.has + cl.more }

// run plans the preemptions.
func (c *claims) run(finder *victim.Finder) (preempts []sched.Preempt) {
	c.finder = finder
	finder.KeepWork = c.policy.conf.keepsWork(c.kind)
	finder.MaySuspend = func() bool { return !c.policy.isFull(c.kind, c.suspended) }
	for _, cl := range c.sorted() {
		lacks := min(cl.due-cl.has, cl.more)
		if account := c.policy.ledger.Account(cl.id.job); lacks <= 0 || account == nil || account.Claims[c.kind] == 0 {
			continue
		}
		before := lacks
		preempts = append(preempts, c.resume(cl, &lacks)...)
		cl.gained = before - lacks
		lacks = min(lacks, c.waiting(cl))
		used := min(lacks, c.coming)
		lacks, c.coming, cl.gained = lacks-used, c.coming-used, cl.gained+used
		c.lacking = c.lacking || lacks > 0
		for ; lacks > 0; lacks-- {
			p, ok := c.take(cl, func(a *cluster.Attempt) bool { return c.usable(cl, a) })
			if !ok {
				break
			}
			preempts = append(preempts, p)
			cl.gained++
		}
	}
	return preempts
}

// isOwed reports whether a claimant's next slot is one that its user is owed.
func (cl *claimant) isOwed() bool { return cl.has+cl.gained < cl.owed }

// sorted returns the claimants, with those that come before the order first.
func (c *claims) sorted() []*claimant {
	group := func(cl *claimant) int {
		switch {
		case cl.isOwed():
			return 0
		case cl.first:
			return 1
		}
		return 2
	}
	sorted := slices.Clone(c.claimants)
	slices.SortStableFunc(sorted, func(a, b *claimant) int { return cmp.Compare(group(a), group(b)) })
	return sorted
}

// resume takes slots for suspended attempts of a phase: each resumes on its own machine
// only. Bundles wait for their slots.
func (c *claims) resume(cl *claimant, lacks *int) (preempts []sched.Preempt) {
	for _, w := range cl.wants {
		if w.Bundle != nil {
			continue
		}
		for _, suspended := range w.Stage.Suspended() {
			if *lacks == 0 {
				return preempts
			}
			m := c.view.Machine(suspended.Machine)
			if c.view.FreeSlots(m)[c.kind] > 0 {
				continue // it resumes, or another attempt came first
			}
			if c.leaving.Take(m) {
				*lacks--
				continue
			}
			c.lacking = true
			if p, ok := c.take(cl, func(a *cluster.Attempt) bool { return a.Machine == suspended.Machine }); ok {
				preempts = append(preempts, p)
				*lacks--
			}
		}
	}
	return preempts
}

// waiting returns how many slots a phase wants for tasks that can start anywhere.
func (c *claims) waiting(cl *claimant) (n int) {
	for _, w := range cl.wants {
		if w.Bundle == nil {
			n += w.Count - len(w.Stage.Suspended())
		}
	}
	return n
}
