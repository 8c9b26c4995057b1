package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// attempt is a try at a task that runs on a machine.
type attempt struct {
	id      cluster.AttemptID
	kind    cluster.Slot // that it holds
	machine *machine
	job     *job
	rng     dag.Range
	ended   bool

	taskWork     int64 // ms of the task's work
	restoredWork int64 // of them, that a checkpoint has and this attempt does not do again
	ownWork      int64 // ms that it has to do: the rest, and what a map reads from afar; of a reduce, behind the copying

	// How far it was at since. From then on it goes on, unless it stands.
	since            int64
	workDone, copied int64 // ms of work, bytes of a reduce
	stalled          bool
	suspended        bool // it stands because it has no slot

	// A reduce copies, as fast as it can, what maps have written. It is through
	// some time after all maps have finished, at ready; 0 while that is not known.
	bytes        int64
	inputReadyAt int64
	fetched      bool // it has all of it, whatever becomes of the maps

	rate       int64 // bytes/s
	preempting bool  // it does nothing but write what it has done

	planned       int            // number of what was planned for it last: the rest does not count
	next          func()         // what was planned last while it stood, by nextPlanned, for due
	nextAt        int64          // ms
	nextPlanned   int            // number of that
	stopped       stoppedProcess // its process is stopped
	pendingReport control.Event  // what it has ended with, nil before; it is repeated until it is in the log
	reportsFrom   int64          // from when on it reports every so often
	reported      sched.Progress // what had been heard of it at since
}

// isReduce tells a reduce from a map.
func (a *attempt) isReduce() bool { return phaseOf(a.id) == cluster.ReduceSlot }

// startAttempt puts an attempt on its machine. A start that is ordered twice is one.
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

// measureMap finds what there is to do of a map: its part of the block's time,
// and to read what is left of its bytes when they are elsewhere.
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

// planNext plans something for an attempt, in place of what was planned before.
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

// proceed has an attempt begin, or go on where it is.
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

// finish ends an attempt that has done its work, or a part of it.
func (b *body) finish(a *attempt, did dag.Range) {
	if b.account.finishedRanges != nil {
		b.account.finishedRanges[a.id] = did
	}
	b.endAttempt(a, control.AttemptFinished{Attempt: a.id, Range: did})
}

// endAttempt takes an attempt from its machine and reports what became of it.
func (b *body) endAttempt(a *attempt, ev control.Event) {
	b.stall(a)
	a.ended, a.pendingReport = true, ev
	a.machine.running = slices.DeleteFunc(a.machine.running, func(other *attempt) bool { return other == a })
	b.report(a.machine, ev)
}

// stall has an attempt stand still.
func (b *body) stall(a *attempt) {
	b.updateProgress(a)
	a.stalled, a.inputReadyAt = true, 0
	a.planned++
	a.job.copying = slices.DeleteFunc(a.job.copying, func(other *attempt) bool { return other == a })
}

// updateProgress takes down how far an attempt is, and what it has told of that.
func (b *body) updateProgress(a *attempt) {
	a.reported, _ = b.progressOf(a)
	a.workDone, a.copied, a.fetched = a.workDoneAt(b.now), a.copiedAt(b.now), a.fetchedAt(b.now)
	a.since = b.now
	if a.fetched && !a.stalled {
		a.inputReadyAt = b.now
	}
}

// workDoneAt is how many ms of its work an attempt has done at a time from since on.
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

// taskWorkDoneAt is how many ms of its task's work are done at a time from since on, by
// it and before its checkpoint.
func (a *attempt) taskWorkDoneAt(at int64) int64 {
	return a.restoredWork + scale(a.taskWork-a.restoredWork, a.workDoneAt(at), a.ownWork)
}
