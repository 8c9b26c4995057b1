package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
)

// beginPreemption makes an attempt save its work and end. A map of one record, or a reduce,
// cannot be split and writes a checkpoint instead.
func (b *body) beginPreemption(a *attempt, split bool) {
	b.stall(a)
	a.preempting = true
	if cuts := a.rng.End.Offset - a.rng.Start.Offset; split && !a.isReduce() && cuts > 1 {
		b.publishSplit(a)
		return
	}
	b.planNext(a, b.reserveDisk(a.machine, b.now, b.cfg.Costs.DiskRate), func() {
		b.reach(a, AtCheckpoint, func() { b.saveCheckpoint(a) })
	})
}

// saveCheckpoint ends an attempt that has written a checkpoint. The checkpoint stays on the
// machine's disk: it is lost with that disk.
func (b *body) saveCheckpoint(a *attempt) {
	a.job.checkpoints[a.id.Task] = savedTask{a.taskWorkDoneAt(b.now), a.copied, a.fetched, a.machine, b.now}
	b.endAttempt(a, control.Requested{Command: cluster.CheckpointAttempt{Attempt: a.id, Checkpoint: cluster.Checkpoint{
		Attempt: a.id, Machine: a.machine.name, Bytes: b.cfg.Costs.TaskBytes,
	}}})
}

// publishSplit makes a map publish what it has read. A map that has read nothing exits
// without a result.
func (b *body) publishSplit(a *attempt) {
	cut := splitPosition(a.rng, a.taskWorkDoneAt(b.now), a.taskWork)
	if !a.rng.Start.Less(cut) {
		b.endAttempt(a, control.AttemptExited{Attempt: a.id})
		return
	}
	b.planNext(a, b.now+b.cfg.Costs.SplitMillis, func() {
		b.reach(a, AtEnd, func() { b.finish(a, dag.Range{Start: a.rng.Start, End: cut}) })
	})
}

// savedTask is the content of a checkpoint.
type savedTask struct {
	done, copied int64
	fetched      bool
	machine      *machine // that has it
	at           int64    // when it was written
}

// restore gives an attempt the progress of its task's checkpoint, if there is one and it is
// not lost. It returns the time at which the checkpoint is read; the attempt has its slot
// from the time at. A checkpoint on another machine is read at the slower of disk and
// network.
func (b *body) restore(a *attempt, t *cluster.Task, at int64) int64 {
	s, known := a.job.checkpoints[t.ID]
	if t.Checkpoint == nil || !known || s.machine.dead || s.at < s.machine.emptiedAt {
		return at
	}
	a.restoredWork, a.copied, a.fetched = s.done, s.copied, s.fetched
	rate := b.cfg.Costs.DiskRate
	if s.machine != a.machine {
		rate = min(rate, b.cfg.RemoteRate)
	}
	return b.reserveDisk(s.machine, at, rate)
}

// suspend stalls an attempt. If memory is short, its slot becomes free when the memory is
// on disk. With enough memory the slot is free at once, and resuming costs nothing.
func (b *body) suspend(a *attempt) {
	if a.suspended {
		return
	}
	b.stall(a)
	a.suspended = true
	if b.cfg.Costs.MemoryShort {
		a.machine.leavingAt[a.kind] = append(a.machine.leavingAt[a.kind], b.reserveDisk(a.machine, b.now, b.cfg.Costs.DiskRate))
	}
}

// resume lets a suspended attempt continue when a slot is free and its memory is loaded.
func (b *body) resume(a *attempt) {
	if !a.suspended {
		return
	}
	at := a.machine.slotFreeAt(a.kind, b.slotsOf(a.kind), b.now)
	a.suspended = false
	if b.cfg.Costs.MemoryShort {
		at = b.reserveDisk(a.machine, at, b.cfg.Costs.DiskRate)
	}
	b.planNext(a, at, func() { b.proceed(a) })
}
