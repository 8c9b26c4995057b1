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
	over    bool

	own  int64 // ms of the task's work
	done int64 // of them, that a checkpoint has and this attempt does not do again
	work int64 // ms that it has to do: the rest, and what a map reads from afar; of a reduce, behind the copying

	// How far it was at since. From then on it goes on, unless it stands.
	since          int64
	worked, copied int64 // ms of work, bytes of a reduce
	stands         bool
	suspended      bool // it stands because it has no slot

	// A reduce copies, as fast as it can, what maps have written. It is through
	// some time after all maps have finished, at ready; 0 while that is not known.
	bytes   int64
	ready   int64
	fetched bool // it has all of it, whatever becomes of the maps

	rate    int64 // bytes/s
	pausing bool  // it does nothing but write what it has done

	plan    int            // number of what was planned for it last: the rest does not count
	next    func()         // what was planned last while it stood, by duePlan, for due
	due     int64          // ms
	duePlan int            // number of that
	ice     ice            // its process is stopped
	word    control.Event  // what it has ended with, nil before; it is repeated until it is in the log
	base    int64          // from when on it reports every so often
	told    sched.Progress // what had been heard of it at since
}

// reduces tells a reduce from a map.
func (a *attempt) reduces() bool { return phaseOf(a.id) == cluster.ReduceSlot }

// start puts an attempt on its machine. A start that is ordered twice is one.
func (b *body) start(m *machine, id cluster.AttemptID) {
	j, t, known, ok := b.view.Attempt(id)
	if !ok || known.State != cluster.AttemptRunning || b.attempts[id] != nil {
		return
	}
	a := &attempt{
		id: id, kind: known.Slot, machine: m, job: b.jobs[j.ID], rng: known.Range,
		since: b.now, base: b.now, stands: true, rate: b.cfg.ShuffleRate,
	}
	at := b.restore(a, t, m.room(a.kind, b.slotsOf(a.kind), b.now))
	b.attempts[id] = a
	m.running = append(m.running, a)
	if a.reduces() {
		in := a.job.in.Reduces[t.Part]
		a.own, a.bytes = in.Millis, in.Bytes
		a.work = a.own - a.done
	} else {
		b.measureMap(a, t, j.IsLocal(t, b.view.Machine(m.name)))
	}
	begin := func() { b.goOn(a) }
	if b.cfg.Visited == nil {
		b.later(a, at, begin)
		return
	}
	b.come(a, AtLaunch, func() { b.later(a, at, begin) })
}

// measureMap finds what there is to do of a map: its part of the block's time,
// and to read what is left of its bytes when they are elsewhere.
func (b *body) measureMap(a *attempt, t *cluster.Task, local bool) {
	in := a.job.in.Maps[t.Part]
	a.own = partOf(in, a.rng)
	a.work = a.own - a.done
	bytes := min(a.rng.End.Offset-a.rng.Start.Offset, in.Bytes)
	if a.done > 0 {
		bytes -= scale(bytes, a.done, a.own)
	}
	if !local {
		a.work += scale(bytes, 1000, b.cfg.RemoteRate)
	}
}

// later plans something for an attempt, in place of what was planned before.
func (b *body) later(a *attempt, at int64, do func()) {
	a.plan++
	plan := a.plan
	act := func() {
		if !a.over && a.plan == plan {
			do()
		}
	}
	if at <= b.now {
		act()
		return
	}
	a.next, a.due, a.duePlan = do, at, plan
	b.queue.plan(at, act)
}

// goOn has an attempt begin, or go on where it is.
func (b *body) goOn(a *attempt) {
	b.settle(a)
	a.base, a.stands = b.now, false
	if a.reduces() {
		a.job.copying = append(a.job.copying, a)
		b.copyOn(a, b.view.Job(a.job.id).Stages[0].Complete())
		return
	}
	b.finishAt(a, b.now+a.work-a.worked)
}

// finishAt plans the end of an attempt.
func (b *body) finishAt(a *attempt, at int64) {
	a.plan++
	plan := a.plan
	b.queue.plan(at, func() {
		switch {
		case a.over || a.plan != plan:
		case b.cfg.Visited == nil:
			b.finish(a, a.rng)
		default:
			b.come(a, AtEnd, func() { b.finish(a, a.rng) })
		}
	})
}

// finish ends an attempt that has done its work, or a part of it.
func (b *body) finish(a *attempt, did dag.Range) {
	if b.account.did != nil {
		b.account.did[a.id] = did
	}
	b.end(a, control.AttemptFinished{Attempt: a.id, Range: did})
}

// end takes an attempt from its machine and reports what became of it.
func (b *body) end(a *attempt, ev control.Event) {
	b.cease(a)
	a.over, a.word = true, ev
	a.machine.running = slices.DeleteFunc(a.machine.running, func(other *attempt) bool { return other == a })
	b.report(a.machine, ev)
}

// cease has an attempt stand still.
func (b *body) cease(a *attempt) {
	b.settle(a)
	a.stands, a.ready = true, 0
	a.plan++
	a.job.copying = slices.DeleteFunc(a.job.copying, func(other *attempt) bool { return other == a })
}

// settle takes down how far an attempt is, and what it has told of that.
func (b *body) settle(a *attempt) {
	a.told, _ = b.reported(a)
	a.worked, a.copied, a.fetched = a.workedAt(b.now), a.copiedAt(b.now), a.fetchedAt(b.now)
	a.since = b.now
	if a.fetched && !a.stands {
		a.ready = b.now
	}
}

// workedAt is how many ms of its work an attempt has done at a time from since on.
func (a *attempt) workedAt(at int64) int64 {
	began := a.since
	if a.reduces() {
		began = max(began, a.ready)
	}
	if a.stands || at < began || a.reduces() && a.ready == 0 {
		return a.worked
	}
	return min(a.worked+at-began, a.work)
}

// doneAt is how many ms of its task's work are done at a time from since on, by
// it and before its checkpoint.
func (a *attempt) doneAt(at int64) int64 {
	return a.done + scale(a.own-a.done, a.workedAt(at), a.work)
}
