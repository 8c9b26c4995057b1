package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// attempt is an attempt that runs on a machine.
//
//	startAttempt ─► stalled ── proceed ─► running ── planFinish ─► reach(AtEnd) ─► endAttempt
//	                   ▲                    │
//	                   └─────── stall ──────┘   suspend, preemption, stopped process, delay
//
// Progress is not stepped. updateProgress computes it when something changes; between two
// changes it grows linearly.
type attempt struct {
	id      cluster.AttemptID
	kind    cluster.Slot // of the slot that it occupies
	machine *machine
	job     *job
	rng     dag.Range
	ended   bool

	taskWork     int64 // ms of the whole task
	restoredWork int64 // ms of taskWork that the checkpoint has already done
	ownWork      int64 // ms to do on this machine: the rest of the task, with remote reads of a map, or after copying for a reduce

	// Progress at the time since. It grows from then on unless the attempt is stalled.
	since            int64
	workDone, copied int64 // ms of ownWork, and bytes of a reduce
	stalled          bool
	suspended        bool // it is stalled because its slot was taken

	// A reduce copies map output at a constant rate. Its input is complete some time after
	// the last map has finished, at inputReadyAt; 0 while that is unknown.
	bytes        int64
	inputReadyAt int64
	fetched      bool // it has all its input, even if map output is lost later

	rate       int64 // bytes/s
	preempting bool  // it only saves its work

	planned       int            // number of the action planned last; earlier ones are void
	next          func()         // the action planned last while it was stalled, see nextPlanned
	nextAt        int64          // ms; when next is due
	nextPlanned   int            // number of the action in next
	stopped       stoppedProcess // set while a fault stops its process
	pendingReport control.Event  // how it ended, nil before; repeated until it is in the log
	reportsFrom   int64          // since when it reports at intervals
	reported      sched.Progress // the report that the master had at the time since
}

// isReduce reports whether the attempt is at a reduce.
func (a *attempt) isReduce() bool { return phaseOf(a.id) == cluster.ReduceSlot }

// startAttempt starts an attempt on its machine. A repeated order has no effect. The
// attempt is stalled until its slot is free and its checkpoint is read.
func (b *body) startAttempt(m *machine, id cluster.AttemptID) {
	j, t, known, ok := b.view.Attempt(id)
	if !ok || !known.Active() || b.attempts[id] != nil {
		return
	}
	a := &attempt{
		id: id, kind: known.Slot, machine: m, job: b.jobs[j.ID], rng: known.Range,
		since: b.now, reportsFrom: b.now, stalled: true, rate: b.cfg.ShuffleRate,
	}
	at := b.restore(a, t, m.slotFreeAt(a.kind, b.slotsOf(a.kind), b.now))
	b.attempts[id] = a
	m.running = append(m.running, a)
	if a.isReduce() {
		in := a.job.in.Reduces[t.Part]
		a.taskWork, a.bytes = in.Millis, in.Bytes
		a.ownWork = a.taskWork - a.restoredWork
	} else {
		b.measureMap(a, t, j.IsLocal(t, b.view.Machine(m.name)))
	}
	begin := func() { b.proceed(a) }
	if b.cfg.OnFailpoint == nil {
		b.planNext(a, at, begin)
		return
	}
	b.reach(a, AtLaunch, func() { b.planNext(a, at, begin) })
}

// measureMap computes the work of a map: its part of the block's time, and the time to read
// the remaining bytes if they are on another machine.
func (b *body) measureMap(a *attempt, t *cluster.Task, local bool) {
	in := a.job.in.Maps[t.Part]
	a.taskWork = millisOfRange(in, a.rng)
	a.ownWork = a.taskWork - a.restoredWork
	bytes := min(a.rng.End.Offset-a.rng.Start.Offset, in.Bytes)
	if a.restoredWork > 0 {
		bytes -= scale(bytes, a.restoredWork, a.taskWork)
	}
	if !local {
		a.ownWork += scale(bytes, 1000, b.cfg.RemoteRate)
	}
}

// planNext plans the next action of an attempt and voids the one before. An attempt has at
// most one valid action: whatever changes its course plans a new one, and the number of the
// old one no longer matches.
func (b *body) planNext(a *attempt, at int64, do func()) {
	a.planned++
	plan := a.planned
	act := func() {
		if !a.ended && a.planned == plan {
			do()
		}
	}
	if at <= b.now {
		act()
		return
	}
	a.next, a.nextAt, a.nextPlanned = do, at, plan
	b.queue.plan(at, act)
}

// proceed lets a stalled attempt run again from its present progress.
func (b *body) proceed(a *attempt) {
	b.updateProgress(a)
	a.reportsFrom, a.stalled = b.now, false
	if a.isReduce() {
		a.job.copying = append(a.job.copying, a)
		b.updateCopy(a, b.view.Job(a.job.id).Stages[0].Complete())
		return
	}
	b.planFinish(a, b.now+a.ownWork-a.workDone)
}

// planFinish plans the end of an attempt.
func (b *body) planFinish(a *attempt, at int64) {
	a.planned++
	plan := a.planned
	b.queue.plan(at, func() {
		switch {
		case a.ended || a.planned != plan:
		case b.cfg.OnFailpoint == nil:
			b.finish(a, a.rng)
		default:
			b.reach(a, AtEnd, func() { b.finish(a, a.rng) })
		}
	})
}

// finish ends an attempt that has done all its work, or a part of it. A map whose range was
// truncated reports the range that it has read.
func (b *body) finish(a *attempt, did dag.Range) {
	if b.account.finishedRanges != nil {
		b.account.finishedRanges[a.id] = did
	}
	b.endAttempt(a, control.AttemptFinished{Attempt: a.id, Range: did})
}

// endAttempt removes an attempt from its machine and reports how it ended.
func (b *body) endAttempt(a *attempt, ev control.Event) {
	b.stall(a)
	a.ended, a.pendingReport = true, ev
	a.machine.running = slices.DeleteFunc(a.machine.running, func(other *attempt) bool { return other == a })
	b.report(a.machine, ev)
}

// stall stops the progress of an attempt. The progress so far stays. proceed continues from
// there.
func (b *body) stall(a *attempt) {
	b.updateProgress(a)
	a.stalled, a.inputReadyAt = true, 0
	a.planned++
	a.job.copying = slices.DeleteFunc(a.job.copying, func(other *attempt) bool { return other == a })
}

// updateProgress brings the progress of an attempt up to now, and what it has reported of
// it. Each change of an attempt's course calls it first, since the linear growth before the
// change ends there.
func (b *body) updateProgress(a *attempt) {
	a.reported, _ = b.progressOf(a)
	a.workDone, a.copied, a.fetched = a.workDoneAt(b.now), a.copiedAt(b.now), a.fetchedAt(b.now)
	a.since = b.now
	if a.fetched && !a.stalled {
		a.inputReadyAt = b.now
	}
}

// workDoneAt returns the work that an attempt has done at a time not before since, in ms. A
// reduce does its own work only after its input is complete.
func (a *attempt) workDoneAt(at int64) int64 {
	began := a.since
	if a.isReduce() {
		began = max(began, a.inputReadyAt)
	}
	if a.stalled || at < began || a.isReduce() && a.inputReadyAt == 0 {
		return a.workDone
	}
	return min(a.workDone+at-began, a.ownWork)
}

// taskWorkDoneAt returns the work of the task that is done at a time not before since, in
// ms: by the attempt and before its checkpoint.
func (a *attempt) taskWorkDoneAt(at int64) int64 {
	return a.restoredWork + scale(a.taskWork-a.restoredWork, a.workDoneAt(at), a.ownWork)
}
