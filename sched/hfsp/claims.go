package hfsp

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
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
	has, due int // slots, with those that it is about to get; and that it ought to have
	alone    int // of those that it wants, for tasks that start alone
	first    bool
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
			c.claimants = append(c.claimants, &claimant{phase: ph, has: has + got[ph], alone: max(alone(ph)-got[ph], 0)})
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
		cl.due, cl.first = min(cl.has+s.slots, slots), s.slots > 0
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
		for _, p := range c.resume(cl, &lacks) {
			preempts = append(preempts, p)
		}
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

// take finds one slot for a phase: the youngest attempt of the phase that is done
// last, of those that may lose one.
func (c *claims) take(cl *claimant, fits func(*cluster.Attempt) bool) (p sched.Preempt, ok bool) {
	for _, loser := range slices.Backward(c.claimants) {
		if loser == cl || !c.yields(loser, cl) {
			continue
		}
		for i, v := range c.suspectsOf(loser) {
			_, _, a, there := c.view.Attempt(v.Attempt)
			if !there || v.Slots[c.kind] > loser.spare(c) || !fits(a) || c.rests(a) {
				continue
			}
			if p, ok = c.finder.Take(v, c.cause(cl, loser)); !ok {
				continue
			}
			if p.How == preempt.Suspend && c.policy.isFull(c.kind, c.still) {
				continue
			}
			if p.How == preempt.Suspend {
				c.still++
			}
			loser.suspects = slices.Delete(loser.suspects, i, i+1)
			loser.has -= v.Slots[c.kind]
			return p, true
		}
	}
	return p, false
}

// spare is how many slots a phase may lose: of one in training the samples stay,
// which are what has started first.
func (cl *claimant) spare(c *claims) int {
	keep := cl.due
	if cl.training() && !cl.stalled {
		keep = max(keep, c.policy.conf.Samples[c.kind])
	}
	return cl.has - keep
}

// yields reports whether a phase may lose slots to another. None does that is
// late.
func (c *claims) yields(loser, to *claimant) bool {
	switch {
	case loser.spare(c) <= 0 || loser.late(c.now) || c.feeds(loser):
		return false
	case to.first:
		return true
	}
	now := float64(c.now)
	return c.policy.rank(loser.phase) > c.policy.rank(to.phase) ||
		loser.done-now > (to.done-now)*(1+marginPart)+marginMillis
}

// feeds reports whether tasks of the other kind wait for what a phase has to do,
// and hold slots that nobody can take from them: their job's turn is over when it
// is through.
func (c *claims) feeds(p *claimant) bool {
	other := cluster.MapSlot + cluster.ReduceSlot - c.kind
	account := c.policy.ledger.Account(p.id.job)
	if c.policy.conf.preempts(other) || account == nil || account.Running[other] == 0 {
		return false
	}
	for _, s := range stagesOf(c.view.Job(p.id.job), other) {
		for up := range s.Upstream() {
			if s.Running > 0 && up.Slot == c.kind {
				return true
			}
		}
	}
	return false
}

func (c *claims) suspectsOf(loser *claimant) []victim.Victim {
	if account := c.policy.ledger.Account(loser.id.job); !loser.looked && account != nil {
		loser.suspects, loser.looked = c.finder.Among(account, c.kind), true
		if c.view.Facts != nil && len(loser.suspects) < len(account.Attempts) {
			c.wake = sched.Earliest(c.wake, c.now+retry) // nothing is known of some
		}
	}
	return loser.suspects
}

// rests reports whether an attempt has gone on so lately that it is to run for a
// while first; or has started at this very moment, so that no two phases can take a
// slot from each other without end. How long it stood still before the last time is
// not known, so it may be some time that it has run already.
func (c *claims) rests(a *cluster.Attempt) bool {
	if a.StartedAt >= c.now {
		c.wake = sched.Earliest(c.wake, c.now+1)
		return true
	}
	until := a.SuspendedAt + a.SuspendedMillis + c.policy.conf.MinRunMillis
	if a.SuspendedAt == 0 || until <= c.now {
		return false
	}
	c.wake = sched.Earliest(c.wake, min(until, c.now+c.policy.conf.MinRunMillis))
	return true
}

// usable reports whether a phase has a use for the slot of an attempt. Of a stage of
// several waves the tasks may wait for slots beside their input, so others are none.
func (c *claims) usable(cl *claimant, a *cluster.Attempt) bool {
	m := c.view.Machine(a.Machine)
	j := c.view.Job(cl.id.job)
	if slices.Contains(c.view.Avoided(j, c.now), a.Machine) {
		return false
	}
	welcome := func(t *cluster.Task) bool {
		return t.Charged == 0 || !slices.Contains(c.view.FailedOn(t), a.Machine)
	}
	for _, w := range cl.wants {
		if w.Bundle != nil || w.Stage.Waiting() == 0 {
			continue
		}
		if !w.Stage.Located() || float64(len(w.Stage.Tasks)) <= c.policy.virtual[c.kind].slots {
			if some(w.Stage.Pending(), welcome) {
				return true
			}
			continue
		}
		for _, host := range m.Hosts {
			if some(w.Stage.PendingOn(host), welcome) {
				return true
			}
		}
	}
	return false
}

func some(tasks iter.Seq[*cluster.Task], fit func(*cluster.Task) bool) bool {
	for t := range tasks {
		if fit(t) {
			return true
		}
	}
	return false
}

func (c *claims) cause(to, loser *claimant) string {
	why := "would be done before"
	switch {
	case to.late(c.now):
		why = "is late against"
	case to.training():
		why = "is to be sized before"
	}
	return fmt.Sprintf("job %v, whose %v phase %s that of job %v, needs its slot", to.id.job, c.kind, why, loser.id.job)
}

// Attempts that stand still hold memory. No more do than there are slots; when so
// many do, no more are suspended until a part of them has gone on.
const lowWater = 0.75

func (p *Policy) lowWater(kind int) int {
	return int(math.Floor(lowWater * p.virtual[kind].slots))
}

// stillOf is how many slots the attempts had that stand still.
func (p *Policy) stillOf(kind int) (n int) {
	for _, ph := range p.line[kind] {
		n += ph.still
	}
	return n
}

// isFull reports whether no more attempts are to stand still where so many do.
func (p *Policy) isFull(kind cluster.Slot, still int) bool {
	switch {
	case float64(still) >= p.virtual[kind].slots:
		p.full[kind] = true
	case still <= p.lowWater(int(kind)):
		p.full[kind] = false
	}
	return p.full[kind]
}
