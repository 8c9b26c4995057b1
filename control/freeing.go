package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// AnticipateEnds makes plans give out slots whose attempts have finished before the log has
// committed that. A body whose log takes time calls it:
//
//	without:  report ──► batch: FinishAttempt a ──► batch: StartAttempt b ──► order to start b
//	with:     report ──► batch: FinishAttempt a, StartAttempt b ────────────► order to start b
//
// The end comes first in the batch, so the state refuses the start if the end does not free
// the slot after all.
func (c *Controller) AnticipateEnds() { c.anticipatesEnds = true }

// freeing returns the capacity of each machine that the pending commands give back, as far as
// the plan may give it out in the same batch; nil for none.
//
// The state still counts the ended attempts as running. So a policy that compares what jobs
// have could prefer the wrong job. Slots of a kind that several jobs want therefore wait for
// the next round, unless the policy's order is static.
func (c *Controller) freeing(now int64) (all map[string]cluster.Capacity) {
	if !c.anticipatesEnds {
		return nil
	}
	var uncontested cluster.Slots // valid once all is not nil
	ended := make(map[cluster.AttemptID]bool)
	for _, entry := range c.pending {
		finish, ok := entry.Command.(cluster.FinishAttempt)
		if !ok || ended[finish.Attempt] {
			continue
		}
		_, _, a, ok := c.view.Attempt(finish.Attempt)
		_, stage, _, _ := c.view.Task(finish.Attempt.Task)
		if !ok || !a.OccupiesSlot() {
			continue
		}
		ended[finish.Attempt] = true
		if all == nil {
			all, uncontested = make(map[string]cluster.Capacity), c.uncontested(now)
		}
		if takes := stage.Takes(); takes.Slots.FitsIn(uncontested) {
			all[a.Machine] = all[a.Machine].Plus(takes)
		}
	}
	return all
}

// uncontested returns sched.Unlimited for each kind of slot for which the policy does not have to
// choose between jobs by what they have, and 0 for the others.
func (c *Controller) uncontested(now int64) cluster.Slots {
	all := cluster.Slots{sched.Unlimited, sched.Unlimited}
	if p, ok := sched.Innermost(c.policy).(sched.StaticOrder); ok && p.OrderIsStatic(now) {
		return all
	}
	var jobs cluster.Slots // jobs that want slots of the kind
	for j := range c.view.Jobs() {
		var wants cluster.Slots
		for w := range sched.Wants(j) {
			wants = wants.Plus(w.Need)
		}
		for kind, n := range wants {
			jobs[kind] += min(n, 1)
			if jobs[kind] > 1 {
				all[kind] = 0
			}
		}
		if all.IsZero() {
			break
		}
	}
	return all
}
