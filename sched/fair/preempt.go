package fair

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/sharetree"
	"github.com/hammr/hammr/sched/victim"
)

// need counts the slots that a pool lacks, without slots that are about to come free.
type need struct {
	queue *queue // pool that has starved for longer than its time-out
	slots int
	given int // free slots that the pool is about to get

	anywhere int            // slots that tasks want which start on any machine that they do not avoid
	resuming map[string]int // by machine: slots that suspended attempts want, for which none is free there; nil before count
}

// count counts what the slots are for: a suspended attempt resumes only on its own machine.
func (n *need) count(w *wave) {
	n.anywhere, n.resuming = -n.given, make(map[string]int)
	view := w.finder.View
	for _, e := range n.queue.jobs {
		if n.anywhere += e.counted.claims[w.kind]; e.counted.claims[w.kind] == 0 || e.account.Suspended[w.kind] == 0 {
			continue
		}
		n.anywhere -= e.account.Suspended[w.kind]
		for _, s := range view.Job(e.Job).Stages {
			for _, a := range s.Suspended() {
				if view.FreeSlots(view.Machine(a.Machine))[w.kind] == 0 {
					n.resuming[a.Machine] += s.Slots[w.kind]
				}
			}
		}
	}
}

// uses reports whether the pool can use a slot of a machine.
func (n *need) uses(w *wave, machine string) bool {
	if n.resuming == nil {
		n.count(w)
	}
	return n.resuming[machine] > 0 || n.anywhere > 0 && slices.ContainsFunc(n.queue.jobs, func(e *entry) bool {
		return e.counted.claims[w.kind] > 0 && sched.CanStartOn(w.finder.View.View, w.finder.Now, w.finder.View.Job(e.Job), cluster.Slot(w.kind), machine)
	})
}

// meet counts slots of a machine that are taken for the pool.
func (n *need) meet(machine string, slots int) {
	n.slots -= slots
	resuming := min(slots, n.resuming[machine])
	n.resuming[machine] -= resuming
	n.anywhere -= slots - resuming
}

// preempt plans preemptions for pools that have waited too long (the design document of the
// fair scheduler, "Preemption"; the Hammr paper, section 5.2). The map given contains the
// free slots that entries are about to get.
func (p *Policy) preempt(now int64, view sched.View, given map[*sharetree.Entry]cluster.Slots) (preempts []sched.Preempt, wake int64) {
	leaves := p.tree.leaves()
	p.updateClocks(now, leaves)
	preempts, taken, wake := p.freeFor(now, view, given, leaves)
	if vain := p.takenInVain(view, given, taken); len(vain) > 0 {
		leaves = slices.DeleteFunc(leaves, func(q *queue) bool { return vain[q] })
		preempts, _, wake = p.freeFor(now, view, given, leaves)
	}
	return preempts, wake
}

// takenInVain returns the pools that could not start anything with the slots that preemptions take for them:
// only bundles wait in the pool, and each also needs slots of the other kind, which are neither free nor taken.
// The victims would get their slots back and lose them again, for ever.
func (p *Policy) takenInVain(view sched.View, given map[*sharetree.Entry]cluster.Slots, taken map[*queue]cluster.Slots) map[*queue]bool {
	if len(taken) == 0 || p.tree.root.bundled == 0 {
		return nil
	}
	free := p.slots.Minus(p.tree.root.running) // now, or when attempts that leave have ended
	for _, q := range p.tree.leaves() {
		free = free.Minus(given[q.treeEntry])
	}
	vain := make(map[*queue]bool)
	for q, slots := range taken {
		if !q.startsWith(view, slots, free.Plus(given[q.treeEntry])) {
			vain[q] = true
		}
	}
	return vain
}

// startsWith reports whether a task or a bundle that waits in a queue uses slots that are taken, and needs no
// others than these and free ones.
func (q *queue) startsWith(view sched.View, taken, free cluster.Slots) bool {
	for _, e := range q.jobs {
		for w := range sched.Wants(view.Job(e.account.Job)) {
			// Less than none is free if attempts run on machines that take no more.
			fits := w.Bundle == nil || w.Need.FitsIn(taken.Plus(free.AtLeast(cluster.Slots{})))
			if fits && !w.Need.AtMost(taken).IsZero() {
				return true
			}
		}
	}
	return false
}

// freeFor plans preemptions for some pools, and returns what they take for each. Slots that are coming free
// count once for each kind, for the pools in order.
func (p *Policy) freeFor(now int64, view sched.View, given map[*sharetree.Entry]cluster.Slots, pools []*queue) (preempts []sched.Preempt, taken map[*queue]cluster.Slots, wake int64) {
	leaves := p.tree.leaves()
	taken = make(map[*queue]cluster.Slots)
	left := make(map[*queue]cluster.Slots) // slots that queues keep
	for _, q := range leaves {
		left[q] = q.running
	}
	finder := &victim.Finder{Now: now, View: view, Preempt: p.conf.Preempt}
	for kind := range p.slots {
		var needs []*need
		coming := p.tree.root.leaving[kind]
		for _, slots := range taken { // of gangs, for the other kind
			coming += slots[kind]
		}
		for _, q := range pools {
			lacks, at := q.starvedSlots(now, p.clocks[q.Name], kind, given[q.treeEntry][kind])
			wake = sched.Earliest(wake, at)
			coming, lacks = max(coming-lacks, 0), max(lacks-coming, 0)
			if lacks > 0 {
				needs = append(needs, &need{queue: q, slots: lacks, given: given[q.treeEntry][kind]})
			}
		}
		if len(needs) == 0 {
			continue
		}
		w := &wave{finder: finder, kind: kind, left: left, taken: taken}
		wake = sched.Earliest(wake, w.free(leaves, needs, now))
		preempts = append(preempts, w.preempts...)
	}
	return preempts, taken, wake
}

// wave is one round of freeing slots of one kind.
type wave struct {
	finder   *victim.Finder // shared by both kinds: an attempt is taken once
	kind     int
	left     map[*queue]cluster.Slots // what queues keep after the victims so far
	taken    map[*queue]cluster.Slots // what they are taken for
	preempts []sched.Preempt          // preemptions planned so far
}

// loss is a victim in a queue.
type loss struct {
	queue *queue
	victim.Victim
}

// free takes slots from queues above their share, the youngest attempts first, until the
// needs are met; wake is the time to try again if they are not met. A victim may free slots
// of both kinds: each queue keeps its share of both.
func (w *wave) free(leaves []*queue, needs []*need, now int64) (wake int64) {
	for _, l := range w.losses(leaves) {
		if len(needs) == 0 {
			return 0
		}
		if !w.spares(l) {
			continue
		}
		_, _, a, _ := w.finder.View.Attempt(l.Attempt)
		i := slices.IndexFunc(needs, func(n *need) bool { return n.uses(w, a.Machine) })
		if i < 0 {
			continue
		}
		n := needs[i]
		cause := fmt.Sprintf("pool %s has more than its fair share, and pool %s has waited for its %v slots", l.queue.Name, n.queue.Name, cluster.Slot(w.kind))
		p, ok := w.finder.Take(l.Victim, cause)
		if !ok {
			continue
		}
		p.ForPool = n.queue.Name
		w.left[l.queue] = w.left[l.queue].Minus(l.Slots)
		w.taken[n.queue] = w.taken[n.queue].Plus(l.Slots)
		w.preempts = append(w.preempts, p)
		if n.meet(a.Machine, l.Slots[w.kind]); n.slots <= 0 {
			needs = slices.Delete(needs, i, i+1)
		}
	}
	if len(needs) == 0 {
		return 0
	}
	return now + victim.Retry
}

// spares reports whether a queue still has its fair share if it loses a victim.
func (w *wave) spares(l loss) bool {
	for kind, n := range l.Slots {
		if n > 0 && float64(w.left[l.queue][kind]-n) < l.queue.share[kind] {
			return false
		}
	}
	return true
}

// losses returns the victims that can be taken from queues above their share, in the order of
// victim.Finder.Compare.
func (w *wave) losses(leaves []*queue) (losses []loss) {
	for _, q := range leaves {
		if float64(q.running[w.kind]) <= q.share[w.kind] {
			continue
		}
		for _, e := range q.jobs {
			for _, v := range w.finder.VictimsOf(e.account, cluster.Slot(w.kind)) {
				losses = append(losses, loss{q, v})
			}
		}
	}
	slices.SortFunc(losses, func(a, b loss) int { return w.finder.Compare(a.Victim, b.Victim) })
	return losses
}
