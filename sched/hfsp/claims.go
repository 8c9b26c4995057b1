package hfsp

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/victim"
)

// claims takes slots of one kind from phases that have more than their turn lets
// them have, for phases that have less. They are found anew each time, from what is
// there: when a victim ends by itself, or somebody else comes whose turn it is, a
// claim is gone.
type claims struct {
	policy *Policy
	now    int64
	view   sched.View
	kind   cluster.Slot

	claimants []*claimant // in order
	finder    victim.Finder
	leaving   map[string]int // attempts told to end, by machine
	coming    int            // slots that are free, or will be
	still     int            // attempts that stand still, or are about to

	lacking bool  // somebody lacks slots
	wake    int64 // when more may be taken though nothing changes; 0 is never
}

// claimant is a phase that has slots or wants some.
type claimant struct {
	*phase
	had, has int  // slots, without and with those that it is about to get
	due      int  // that it ought to have
	alone    int  // that it wants further, for tasks that start alone
	first    bool // it is due them before the order: for samples, or because it is late

	suspects []victim.Victim // whom it can lose, the youngest first; nil before they are looked for
	looked   bool
}

// Margins by which a phase must be done later than another in the virtual cluster
// before it loses slots to it: sizes are not so exact, and a phase whose guess was
// too small would get slots only to lose them.
const (
	marginPart   = 0.05 // of the time that is left
	marginMillis = 1000
)

func newClaims(p *Policy, now int64, view sched.View, kind cluster.Slot, plan sched.Plan) *claims {
	c := &claims{
		policy: p, now: now, view: view, kind: kind, leaving: make(map[string]int),
		finder: victim.Finder{Now: now, View: view, Means: p.conf.Means},
		still:  p.stillOf(int(kind)),
	}
	got := c.got(plan)
	total := int(p.virtual[kind].slots)
	taken := 0
	for _, ph := range p.order(kind) {
		has := p.running(ph)
		taken += has + got[ph]
		if has+ph.wanted > 0 {
			c.claimants = append(c.claimants, &claimant{phase: ph, had: has, has: has + got[ph], alone: max(alone(ph)-got[ph], 0)})
		}
	}
	c.coming = max(total-taken, 0)
	c.share(total)
	return c
}

// got is how many slots phases are about to get.
func (c *claims) got(plan sched.Plan) map[*phase]int {
	got := make(map[*phase]int)
	count := func(id cluster.TaskID) {
		if _, stage, _, ok := c.view.Task(id); ok {
			if ph := c.policy.phases[phaseID{id.Job, c.kind}]; ph != nil {
				got[ph] += stage.Slots[c.kind]
			}
		}
	}
	for _, s := range plan.Starts {
		count(s.Task)
	}
	for _, id := range plan.Resumes {
		count(id.Task)
	}
	for _, b := range plan.Bundles {
		for _, s := range b.Starts {
			count(s.Task)
		}
	}
	return got
}

// alone is how many of the slots that a phase wants are for tasks that start
// alone. For bundles nobody is preempted: they need slots that are beside each
// other, and wait for them.
func alone(p *phase) (slots int) {
	for _, w := range p.wants {
		if w.Bundle == nil {
			slots += w.Count
		}
	}
	return slots
}

// share says what each is due of all slots, as if none were taken: the order is
// that of deal.
func (c *claims) share(slots int) {
	byPhase := make(map[*phase]*claimant, len(c.claimants))
	for _, cl := range c.claimants {
		byPhase[cl.phase] = cl
	}
	if !c.wanted() {
		return
	}
	for _, s := range c.policy.sampling(c.kind) {
		cl := byPhase[s.phase]
		cl.due, cl.first = min(max(cl.had+s.slots, cl.has), slots), s.slots > 0
		slots -= cl.due
	}
	var late []*portion
	for _, cl := range c.claimants {
		if cl.late(c.now) {
			late = append(late, &portion{phase: cl.phase, slots: cl.due, demand: cl.demand()})
		}
	}
	spread(slots, late)
	for _, l := range late {
		cl := byPhase[l.phase]
		slots -= l.slots - cl.due
		cl.due, cl.first = l.slots, true
	}
	for _, cl := range c.claimants {
		if !cl.late(c.now) {
			more := min(cl.demand()-cl.due, slots)
			cl.due += more
			slots -= more
		}
	}
}

// wanted reports whether anybody lacks anything.
func (c *claims) wanted() bool {
	return slices.ContainsFunc(c.claimants, func(cl *claimant) bool { return cl.alone > 0 })
}

func (cl *claimant) demand() int { return cl.has + cl.alone }

// run finds the slots to be taken.
func (c *claims) run() (preempts []sched.Preempt) {
	if !c.wanted() {
		return nil
	}
	c.drain()
	for _, cl := range c.sorted() {
		lacks := min(cl.due-cl.has, cl.alone)
		if lacks <= 0 {
			continue
		}
		preempts = append(preempts, c.resume(cl, &lacks)...)
		lacks = min(lacks, c.waiting(cl))
		used := min(lacks, c.coming)
		lacks, c.coming = lacks-used, c.coming-used
		c.lacking = c.lacking || lacks > 0
		for ; lacks > 0; lacks-- {
			p, ok := c.take(cl, func(a *cluster.Attempt) bool { return c.usable(cl, a) })
			if !ok {
				break
			}
			preempts = append(preempts, p)
		}
	}
	return preempts
}

// sorted is the claimants, those first that come before the order.
func (c *claims) sorted() []*claimant {
	var first, rest []*claimant
	for _, cl := range c.claimants {
		if cl.first {
			first = append(first, cl)
		} else {
			rest = append(rest, cl)
		}
	}
	return append(first, rest...)
}

// drain counts the attempts that are told to end, by machine.
func (c *claims) drain() {
	for _, account := range c.policy.ledger.Accounts() {
		if account.Leaving[c.kind] == 0 {
			continue
		}
		for id, hold := range account.Attempts {
			if _, _, a, ok := c.view.Attempt(id); ok && hold.Leaving {
				c.leaving[a.Machine] += hold.Slots[c.kind]
			}
		}
	}
}

// resume takes slots for the attempts of a phase that stand still: each goes on
// where it is, and nowhere else.
func (c *claims) resume(cl *claimant, lacks *int) (preempts []sched.Preempt) {
	for _, w := range cl.wants {
		for _, still := range w.Stage.Suspended() {
			if *lacks == 0 {
				return preempts
			}
			if c.view.Machine(still.Machine).Free(c.kind) > 0 {
				continue // it is going on, or another has come first
			}
			if c.leaving[still.Machine] > 0 {
				c.leaving[still.Machine]--
				*lacks--
				continue
			}
			c.lacking = true
			if p, ok := c.take(cl, func(a *cluster.Attempt) bool { return a.Machine == still.Machine }); ok {
				preempts = append(preempts, p)
				*lacks--
			}
		}
	}
	return preempts
}

// waiting is how many slots the tasks of a phase want that can start anywhere.
func (c *claims) waiting(cl *claimant) (n int) {
	for _, w := range cl.wants {
		if w.Bundle == nil {
			n += w.Count - len(w.Stage.Suspended())
		}
	}
	return n
}
