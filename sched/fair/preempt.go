package fair

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// retry is after how long it is looked again for attempts to take slots from,
// when there were too few, in ms.
const retry = 1000

// need is slots that a pool lacks.
type need struct {
	queue *queue
	slots int
}

// preempt frees slots for pools that have waited for too long.
func (p *Policy) preempt(now int64, view sched.View, d *deal) (preempts []sched.Preempt, wake int64) {
	leaves := p.tree.leaves()
	p.watch(now, leaves)
	given := d.given()
	left := make(map[*queue]slots) // what queues keep
	for _, q := range leaves {
		left[q] = q.running
	}
	taken := make(map[cluster.AttemptID]bool)
	for kind := range p.slots {
		var needs []need
		coming := p.tree.root.leaving[kind]
		for _, q := range leaves {
			lacks, at := q.starved(now, p.clocks[q.Name], kind, given[q][kind])
			wake = sched.Earliest(wake, at)
			coming, lacks = max(coming-lacks, 0), max(lacks-coming, 0)
			if lacks > 0 {
				needs = append(needs, need{q, lacks})
			}
		}
		if len(needs) == 0 {
			continue
		}
		w := &wave{view: view, kind: kind, left: left, taken: taken}
		if wake = sched.Earliest(wake, w.free(leaves, needs, now)); len(w.preempts) > 0 {
			preempts = append(preempts, w.preempts...)
		}
	}
	return preempts, wake
}

// given is what each queue is about to get of slots that are free.
func (d *deal) given() map[*queue]slots {
	given := make(map[*queue]slots)
	var walk func(s *seat)
	walk = func(s *seat) {
		if s.queue != nil {
			given[s.queue] = s.given.Minus(s.missing)
		}
		for _, child := range s.children {
			walk(child)
		}
	}
	walk(d.root)
	return given
}

// wave is slots of one kind being freed.
type wave struct {
	view     sched.View
	kind     int
	left     map[*queue]slots
	taken    map[cluster.AttemptID]bool
	preempts []sched.Preempt
}

// victim is attempts that end together: one, or those of a gang.
type victim struct {
	queue     *queue
	attempt   cluster.AttemptID // that is told to end
	slots     slots
	startedAt int64
}

// free takes slots from queues above their share, of what started last, until the
// needs are met; wake is when to try again if they are not.
func (w *wave) free(leaves []*queue, needs []need, now int64) (wake int64) {
	for _, v := range w.victims(leaves) {
		if len(needs) == 0 {
			return 0
		}
		if w.taken[v.attempt] || !w.spares(v) {
			continue
		}
		w.taken[v.attempt] = true
		w.left[v.queue] = w.left[v.queue].Minus(v.slots)
		w.preempts = append(w.preempts, sched.Preempt{
			Attempt: v.attempt, How: preempt.Kill,
			Cause: fmt.Sprintf("pool %s has more than its fair share, and pool %s has waited for its %v slots", v.queue.Name, needs[0].queue.Name, cluster.Slot(w.kind)),
		})
		if needs[0].slots -= v.slots[w.kind]; needs[0].slots <= 0 {
			needs = needs[1:]
		}
	}
	if len(needs) == 0 {
		return 0
	}
	return now + retry
}

// spares reports whether a queue has its fair share without a victim.
func (w *wave) spares(v victim) bool {
	for kind, n := range v.slots {
		if n > 0 && float64(w.left[v.queue][kind]-n) < v.queue.share[kind] {
			return false
		}
	}
	return true
}

// victims are what could end in queues above their share, what started last
// first.
func (w *wave) victims(leaves []*queue) (victims []victim) {
	for _, q := range leaves {
		if float64(q.running[w.kind]) <= q.share[w.kind] {
			continue
		}
		for _, e := range q.jobs {
			for id, h := range e.attempts {
				if v, ok := w.victim(q, id, h); ok {
					victims = append(victims, v)
				}
			}
		}
	}
	slices.SortFunc(victims, func(a, b victim) int {
		return cmp.Or(-cmp.Compare(a.startedAt, b.startedAt), -a.attempt.Compare(b.attempt))
	})
	return victims
}

// victim is an attempt with all that ends with it. Of a gang only the first
// attempt is one. What nothing is known of is none, nor what holds slots that
// would not be given out again.
func (w *wave) victim(q *queue, id cluster.AttemptID, h hold) (v victim, ok bool) {
	j, stage, t, _ := w.view.Task(id.Task)
	_, _, a, _ := w.view.Attempt(id)
	if h.leaving || a == nil {
		return v, false
	}
	v = victim{queue: q, attempt: id, slots: h.slots, startedAt: a.StartedAt}
	if !stage.Bundle.Gang {
		return v, w.useful(a) && v.slots[w.kind] > 0
	}
	v.slots = slots{}
	first := true
	for _, mate := range stage.Bundle.TasksOf(stage.Bundle.NumberOf(stage, t)) {
		_, s, _, _ := w.view.Task(mate.ID)
		for _, b := range mate.Attempts {
			if b.State != cluster.AttemptRunning {
				continue
			}
			if first && b.ID != id || !w.useful(b) || b.Pausing {
				return v, false
			}
			first = false
			v.slots = v.slots.Plus(s.Slots)
		}
	}
	return v, j != nil && v.slots[w.kind] > 0
}

// useful reports whether somebody knows of an attempt, and its slot can be given
// to another.
func (w *wave) useful(a *cluster.Attempt) bool {
	_, known := w.view.Progress(a.ID)
	m := w.view.Machine(a.Machine)
	return known && m != nil && !m.Lost && !m.Excluded
}
