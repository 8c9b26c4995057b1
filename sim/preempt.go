package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
)

// pause has an attempt keep its work and end.
func (b *body) pause(a *attempt, split bool) {
	b.cease(a)
	a.pausing = true
	if cuts := a.rng.End.Offset - a.rng.Start.Offset; split && !a.reduces() && cuts > 1 {
		b.endEarly(a)
		return
	}
	b.later(a, b.transfer(a.machine, b.now, b.cfg.Costs.DiskRate), func() {
		b.come(a, AtCheckpoint, func() { b.save(a) })
	})
}

// save ends an attempt that has written a checkpoint.
func (b *body) save(a *attempt) {
	a.job.saved[a.id.Task] = saved{a.doneAt(b.now), a.copied, a.fetched, a.machine, b.now}
	b.end(a, control.AttemptPaused{Attempt: a.id, Checkpoint: cluster.Checkpoint{
		Attempt: a.id, Machine: a.machine.name, Bytes: b.cfg.Costs.TaskBytes,
	}})
}

// endEarly has a map publish what it has read. One that has read nothing has
// nothing to publish.
func (b *body) endEarly(a *attempt) {
	cut := cutOf(a.rng, a.doneAt(b.now), a.own)
	if !a.rng.Start.Less(cut) {
		b.end(a, control.AttemptEnded{Attempt: a.id})
		return
	}
	b.later(a, b.now+b.cfg.Costs.SplitMillis, func() {
		b.come(a, AtEnd, func() { b.finish(a, dag.Range{Start: a.rng.Start, End: cut}) })
	})
}

// saved is how far a task was when it wrote its checkpoint.
type saved struct {
	done, copied int64
	fetched      bool
	machine      *machine // where it lies
	at           int64    // when it was written
}

// restore has an attempt go on from the checkpoint of its task, if it has one
// that is still there, and returns when it has read it. It has its slot from the
// time at on.
func (b *body) restore(a *attempt, t *cluster.Task, at int64) int64 {
	s, known := a.job.saved[t.ID]
	if t.Checkpoint == nil || !known || s.machine.dead || s.at < s.machine.empty {
		return at
	}
	a.done, a.copied, a.fetched = s.done, s.copied, s.fetched
	rate := b.cfg.Costs.DiskRate
	if s.machine != a.machine {
		rate = min(rate, b.cfg.RemoteRate)
	}
	return b.transfer(s.machine, at, rate)
}

// suspend has an attempt stand still. Where memory is short it leaves its slot
// only when it is written to the disk.
func (b *body) suspend(a *attempt) {
	if a.suspended {
		return
	}
	b.cease(a)
	a.suspended = true
	if b.cfg.Costs.MemoryShort {
		a.machine.leaving[a.kind] = append(a.machine.leaving[a.kind], b.transfer(a.machine, b.now, b.cfg.Costs.DiskRate))
	}
}

// resume has an attempt go on, as soon as there is room for it and it is in
// memory again.
func (b *body) resume(a *attempt) {
	if !a.suspended {
		return
	}
	at := a.machine.room(a.kind, b.slotsOf(a.kind), b.now)
	a.suspended = false
	if b.cfg.Costs.MemoryShort {
		at = b.transfer(a.machine, at, b.cfg.Costs.DiskRate)
	}
	b.later(a, at, func() { b.goOn(a) })
}
