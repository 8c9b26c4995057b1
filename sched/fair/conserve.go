package fair

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/sharetree"
	"github.com/hammr/hammr/sched/victim"
)

// conserve plans the preemptions of Config.ConserveShares. Attempts are suspended,
// checkpointed or split, never killed, so no work is lost:
//
//	divide   the fair share of each job in the slots that tasks can work in
//	lacks    jobs below their share with ready tasks, the neediest first
//	idle     they take slots of attempts that only wait for input, of any job
//	busy     then slots of the job that is most above its share
//
// A busy attempt is taken only if its job and the pools around it keep their shares, and
// the taker does not exceed its own. So no slot moves back while the demands stay the same.
// The map given contains the free slots that entries are about to get.
func (p *Policy) conserve(now int64, view sched.View, given map[*sharetree.Entry]cluster.Slots) (preempts []sched.Preempt, wake int64) {
	finder := &victim.Finder{Now: now, View: view, Preempt: p.conf.Preempt, KeepWork: true}
	root := p.tree.root
	for kind := range p.slots {
		if root.claims[kind] == 0 || root.ready[kind] <= given[root.treeEntry][kind] {
			continue
		}
		c := &conservation{policy: p, now: now, view: view, kind: cluster.Slot(kind), finder: finder, leaving: p.ledger.LeavingSlots(cluster.Slot(kind))}
		c.divide(given)
		c.coming = root.leaving[kind] + c.unused(given[root.treeEntry][kind])
		if c.run() {
			wake = sched.Earliest(wake, now+victim.Retry)
		}
		preempts = append(preempts, c.preempts...)
	}
	return preempts, sched.Earliest(wake, finder.Wake)
}

// conservation moves slots of one kind in one decision. It leaves bundles out: they neither
// take slots of others nor lose theirs.
type conservation struct {
	policy *Policy
	now    int64
	view   sched.View
	kind   cluster.Slot
	finder *victim.Finder // shared by both kinds: an attempt is taken once

	pools   map[*queue]*division // pools with jobs that have or want slots
	jobs    []*division          // jobs that have or want slots, by pool
	waiters []*division          // jobs with attempts that only wait for input
	losers  []*division          // all jobs above their shares rounded down, and some others
	leaving *ledger.LeavingSlots
	coming  int // slots that are free or about to come free, and not claimed

	preempts []sched.Preempt
}

// unused returns the number of free slots that no job gets.
func (c *conservation) unused(given int) (n int) {
	for m := range c.view.MachinesWithFree(c.kind) {
		n += max(c.view.FreeSlots(m)[c.kind], 0)
	}
	return max(n-given, 0)
}

// run takes slots for each job that lacks some. It reports whether a job still lacks slots.
func (c *conservation) run() (lacking bool) {
	takers := slices.DeleteFunc(slices.Clone(c.jobs), func(d *division) bool { return d.lacks() == 0 })
	slices.SortStableFunc(takers, func(a, b *division) int {
		return cmp.Or(cmp.Compare(float64(a.works)/a.share, float64(b.works)/b.share), a.job.compare(b.job))
	})
	for _, d := range takers {
		c.resume(d)
		used := min(d.lacks(), c.coming)
		c.coming -= used
		c.gain(d, used)
		j := c.view.Job(d.job.Job)
		anywhere := func(a *cluster.Attempt) bool { return sched.CanStartOn(c.view.View, c.now, j, c.kind, a.Machine) }
		for d.anywhere > 0 && d.lacks() > 0 {
			if !c.take(d, anywhere) {
				lacking = true
				break
			}
			d.anywhere--
		}
	}
	return lacking
}

// resume takes slots for the suspended attempts of a job: each resumes on its own machine
// only.
func (c *conservation) resume(d *division) {
	for _, s := range c.view.Job(d.job.Job).Stages {
		if s.Slot != c.kind || !s.StartsAlone() || s.StartsEarly() {
			continue
		}
		for _, suspended := range s.Suspended() {
			m := c.view.Machine(suspended.Machine)
			switch {
			case d.lacks() == 0:
				return
			case c.view.FreeSlots(m)[c.kind] > 0: // it resumes, or another attempt came first
			case c.leaving.Take(m):
				c.coming = max(c.coming-1, 0)
				c.gain(d, 1)
			default:
				c.take(d, func(a *cluster.Attempt) bool { return a.Machine == m.Name })
			}
		}
	}
}

// take takes one slot for a job: of an attempt that waits for input if there is one, the
// youngest first, or of the job that is most above its share.
func (c *conservation) take(to *division, fits func(*cluster.Attempt) bool) bool {
	if to.mayTakeIdle() {
		for _, from := range c.waiters {
			if from != to && c.takeOne(from, to, &from.idleVictims, fits, "job %v waits for input in its slot, and job %v has tasks that can work") {
				from.idle--
				c.gain(to, 1)
				return true
			}
		}
	}
	for _, from := range c.aboveShare(to) {
		if c.takeOne(from, to, &from.busyVictims, fits, "job %v has more than its fair share, and job %v has less") {
			from.gain(-1)
			c.gain(to, 1)
			return true
		}
	}
	return false
}

// gain adds slots to a job, which may then lose some to others.
func (c *conservation) gain(d *division, slots int) {
	d.gain(slots)
	c.list(d)
}

// list lists a job among those that may lose slots, if it may.
func (c *conservation) list(d *division) {
	if !d.listed && d.canLose() {
		d.listed, c.losers = true, append(c.losers, d)
	}
}

// takeOne takes the first attempt of a list that can be taken, and removes it from the list.
// The format of the cause takes the ids of both jobs.
func (c *conservation) takeOne(from, to *division, victims *[]victim.Victim, fits func(*cluster.Attempt) bool, cause string) bool {
	from.findVictims(c)
	i, p := c.finder.First(*victims, func(_ victim.Victim, a *cluster.Attempt) bool { return fits(a) })
	if i < 0 {
		return false
	}
	p.Cause, p.For = fmt.Sprintf(cause, from.job.Job, to.job.Job), to.job.Job
	c.preempts = append(c.preempts, p)
	*victims = slices.Delete(*victims, i, i+1)
	return true
}

// aboveShare returns the jobs that can lose a busy slot to another job, those most above
// their share first, of equals the youngest. There are none while bundles of several slots wait:
// slots that come free are reserved for them, and the loser may get its slot back.
func (c *conservation) aboveShare(to *division) (found []*division) {
	if c.policy.tree.root.bundled > 0 {
		return nil
	}
	for _, from := range c.losers {
		if from != to && from.canLose() && to.mayGainFrom(from) && from.mayLoseTo(to, c) {
			found = append(found, from)
		}
	}
	slices.SortStableFunc(found, func(a, b *division) int {
		return cmp.Or(cmp.Compare(float64(b.works)-b.share, float64(a.works)-a.share), b.job.compareAge(a.job))
	})
	return found
}

// findVictims lists the attempts of a job that may lose their slots, once in a decision.
func (d *division) findVictims(c *conservation) {
	if d.searched {
		return
	}
	d.searched = true
	for _, v := range c.finder.VictimsOf(d.job.account, c.kind) {
		switch _, s, _, ok := c.view.Task(v.Attempt.Task); {
		case !ok || !s.StartsAlone():
		case slices.Contains(d.waitingStages, s):
			d.idleVictims = append(d.idleVictims, v)
		default:
			d.busyVictims = append(d.busyVictims, v)
		}
	}
}
