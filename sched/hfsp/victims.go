package hfsp

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/victim"
)

// take finds one slot for a phase. Of the phases that may lose a slot, the phase that
// finishes last loses its youngest attempt. The paper gives two reasons (section 3.4): the
// oldest attempts are likely to end first, and the youngest to have the smallest memory.
func (c *claims) take(cl *claimant, fits func(*cluster.Attempt) bool) (p sched.Preempt, ok bool) {
	for _, loser := range slices.Backward(c.claimants) {
		if loser == cl || !c.yields(loser, cl) {
			continue
		}
		i, p := c.finder.First(c.victimsOf(loser), func(v victim.Victim, a *cluster.Attempt) bool {
			return v.Slots[c.kind] <= loser.spare(c) && fits(a) && !c.hasJustStarted(a) && !c.hitsLate(v)
		})
		if i < 0 {
			continue
		}
		slots := loser.victims[i].Slots[c.kind]
		if p.Mode == preempt.Suspend {
			c.suspended += slots
		}
		p.Cause, p.For = c.cause(cl, loser), cl.id.job
		loser.victims = slices.Delete(loser.victims, i, i+1)
		loser.has -= slots
		return p, true
	}
	return p, false
}

// hitsLate reports whether a victim would give up slots of the other kind that a late
// phase has.
func (c *claims) hitsLate(v victim.Victim) bool {
	other := cluster.MapSlot + cluster.ReduceSlot - c.kind
	if v.Slots[other] == 0 {
		return false
	}
	c.policy.inLine(other)
	p := c.policy.phases[phaseID{v.Attempt.Task.Job, other}]
	return p != nil && p.late(c.now)
}

// spare returns the number of slots that a phase may lose. A phase in training keeps its
// samples, which are its oldest attempts.
func (cl *claimant) spare(c *claims) int {
	keep := cl.due
	if cl.training() && !cl.stalled {
		keep = max(keep, c.policy.conf.Samples[c.kind])
	}
	return cl.has - keep
}

// isForShare reports whether a phase wants a slot of another user's phase because its own user
// is owed it.
func (c *claims) isForShare(to, loser *claimant) bool {
	return to.isOwed() && c.policy.users.of(to.phase) != c.policy.users.of(loser.phase)
}

// yields reports whether a phase may lose slots to another. A late phase loses slots only to
// users that are owed them.
func (c *claims) yields(loser, to *claimant) bool {
	switch {
	case loser.spare(c) <= 0 || c.isAwaited(loser):
		return false
	case c.isForShare(to, loser):
		return true
	case loser.late(c.now):
		return false
	case to.first:
		return true
	}
	now := float64(c.now)
	return c.policy.rank(loser.phase) > c.policy.rank(to.phase) ||
		loser.done-now > (to.done-now)*(1+marginPart)+marginMillis
}

// isAwaited reports whether tasks of the other kind wait for a phase, in slots that cannot
// be taken from these tasks: their job's turn ends when the phase does.
func (c *claims) isAwaited(p *claimant) bool {
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

// victimsOf returns the attempts that a phase may lose, the youngest first. It searches once
// in each decision, and requests another decision later if some have not reported their
// progress.
func (c *claims) victimsOf(loser *claimant) []victim.Victim {
	if account := c.policy.ledger.Account(loser.id.job); !loser.searched && account != nil {
		loser.victims, loser.searched = c.finder.VictimsOf(account, c.kind), true
		if c.view.SoftState != nil && len(loser.victims) < len(account.Attempts) && !c.allKnown(account) {
			c.wake = sched.Earliest(c.wake, c.now+retry)
		}
	}
	return loser.victims
}

// allKnown reports whether the progress of every attempt of a job is known.
func (c *claims) allKnown(account *ledger.Account) bool {
	for id := range account.Attempts {
		if _, known := c.view.Progress(id); !known {
			return false
		}
	}
	return true
}

// hasJustStarted reports whether an attempt has started at this very moment. Without the rule
// two phases could take a slot from each other without end.
func (c *claims) hasJustStarted(a *cluster.Attempt) bool {
	if a.StartedAt < c.now {
		return false
	}
	c.wake = sched.Earliest(c.wake, c.now+1)
	return true
}

// usable reports whether a phase can use the slot of an attempt. The tasks of a stage of
// several waves may wait for slots near their input, so only slots near the input count for
// such a stage.
func (c *claims) usable(cl *claimant, a *cluster.Attempt) bool {
	m := c.view.Machine(a.Machine)
	j := c.view.Job(cl.id.job)
	if slices.Contains(c.view.Avoided(j, c.now), a.Machine) {
		return false
	}
	mayStart := func(t *cluster.Task) bool {
		return t.Charged == 0 || !slices.Contains(c.view.FailedOn(t), a.Machine)
	}
	for _, w := range cl.wants {
		if w.Bundle != nil || w.Stage.Waiting() == 0 {
			continue
		}
		if !w.Stage.Located() || float64(len(w.Stage.Tasks)) <= c.policy.virtual[c.kind].slots {
			if anyTask(w.Stage.Pending(), mayStart) {
				return true
			}
			continue
		}
		if anyTask(w.Stage.CheckpointedOn(a.Machine), mayStart) {
			return true
		}
		for _, host := range m.Hosts {
			if anyTask(w.Stage.PendingOn(host), mayStart) {
				return true
			}
		}
	}
	return false
}

// anyTask reports whether a task fits.
func anyTask(tasks iter.Seq[*cluster.Task], fit func(*cluster.Task) bool) bool {
	for t := range tasks {
		if fit(t) {
			return true
		}
	}
	return false
}

// cause returns the reason of a preemption, shown to users.
func (c *claims) cause(to, loser *claimant) string {
	if c.isForShare(to, loser) {
		return fmt.Sprintf("the user of job %v has been below its share for too long, and needs the slot of job %v", to.id.job, loser.id.job)
	}
	why := "would be done before"
	switch {
	case to.late(c.now):
		why = "is late against"
	case to.training():
		why = "is to be sized before"
	}
	return fmt.Sprintf("job %v, whose %v phase %s that of job %v, needs its slot", to.id.job, c.kind, why, loser.id.job)
}

// lowWater is a fraction of the limit of suspended attempts, which use memory. When the limit is
// reached, none is suspended until their number has fallen to lowWater; until then phases wait
// (the paper, section 3.4, "Maximum number of suspended jobs").
const lowWater = 0.75

// maxSuspended returns the limit of suspended attempts, in slots.
func (p *Policy) maxSuspended(kind int) float64 {
	if n := p.conf.MaxSuspended; n != 0 {
		return float64(max(n, 0))
	}
	return p.virtual[kind].slots
}

// lowWater returns the number of suspended attempts at which suspensions begin again.
func (p *Policy) lowWater(kind int) int {
	return int(math.Floor(lowWater * p.maxSuspended(kind)))
}

// isFull reports whether no more attempts may be suspended when this number is suspended.
func (p *Policy) isFull(kind cluster.Slot, suspended int) bool {
	switch {
	case float64(suspended) >= p.maxSuspended(int(kind)):
		p.full[kind] = true
	case suspended <= p.lowWater(int(kind)):
		p.full[kind] = false
	}
	return p.full[kind]
}
