package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
)

// attempt is a try at a task that runs on a machine.
type attempt struct {
	id      cluster.AttemptID
	machine *machine
	job     *job
	rng     dag.Range
	local   bool
	over    bool

	began int64 // ms
	work  int64 // ms that it has to do behind the copying of a reduce, less what was done before a checkpoint
	done  int64 // ms of the task's work that were done before a checkpoint

	// A reduce copies, as fast as it can, what maps have written: bytes, less
	// copied at the time since. It is through when all maps are finished, and
	// ready then at ready; 0 before.
	bytes, copied int64
	since, ready  int64
	plan          int // number of its latest planned end: earlier ones do not count
}

// start runs an attempt on its machine. A start that is ordered twice is one.
func (b *body) start(m *machine, id cluster.AttemptID) {
	j, t, known, ok := b.view.Attempt(id)
	if !ok || known.State != cluster.AttemptRunning || slices.ContainsFunc(m.running, func(a *attempt) bool { return a.id == id }) {
		return
	}
	a := &attempt{id: id, machine: m, job: b.jobs[j.ID], rng: known.Range, began: b.now, since: b.now}
	a.done = a.job.done[id.Task]
	m.running = append(m.running, a)
	if isMap(id) {
		in := a.job.in.Maps[t.Part]
		a.local = j.IsLocal(t, b.view.Machine(m.name))
		a.work = max(in.Millis-a.done, 0)
		if !a.local {
			a.work += in.Bytes * 1000 / b.cfg.RemoteRate
		}
		b.endAt(a, b.now+a.work)
	} else {
		in := a.job.in.Reduces[t.Part]
		a.work, a.bytes = max(in.Millis-a.done, 0), in.Bytes
		if a.done > 0 {
			a.copied = a.bytes // a checkpoint holds what was fetched
		}
		a.job.copying = append(a.job.copying, a)
		b.copyOn(a.job)
	}
	b.tellProgress(a)
}

func isMap(id cluster.AttemptID) bool { return id.Task.Stage == "m" }

// endAt plans the end of an attempt, in place of what was planned before.
func (b *body) endAt(a *attempt, at int64) {
	a.plan++
	plan := a.plan
	b.queue.plan(at, func() {
		if !a.over && a.plan == plan {
			b.end(a, control.AttemptFinished{Attempt: a.id, Range: a.rng})
		}
	})
}

// end takes an attempt from its machine and reports what became of it.
func (b *body) end(a *attempt, ev control.Event) {
	a.over = true
	a.machine.running = slices.DeleteFunc(a.machine.running, func(other *attempt) bool { return other == a })
	a.job.copying = slices.DeleteFunc(a.job.copying, func(other *attempt) bool { return other == a })
	if _, finished := ev.(control.AttemptFinished); finished && a.local {
		a.job.local[a.id] = true
	}
	b.report(a.machine, ev)
}

// copyOn looks again at the reduces of a job that copy: each is through some
// time after the last map has finished. What it copies until then, and whether
// that is there yet, is taken to keep pace.
func (b *body) copyOn(j *job) {
	all := b.view.Job(j.id).Stages[0].Complete()
	for _, a := range j.copying {
		last := a.bytes / int64(max(1, len(j.in.Maps))) // the last map's part at least is left
		copied := min(a.copied+(b.now-a.since)*b.cfg.ShuffleRate/1000, max(a.bytes-last, a.copied))
		switch {
		case all && a.ready == 0:
			a.copied, a.since = copied, b.now
			a.ready = b.now + (a.bytes-copied)*1000/b.cfg.ShuffleRate
			b.endAt(a, a.ready+a.work)
		case !all && a.ready > b.now: // output was lost that it had not copied
			a.copied, a.since, a.ready = copied, b.now, 0
			a.plan++
		}
	}
}

// worked is how much of its task's work a running attempt has done, in ms.
func (b *body) worked(a *attempt) int64 {
	switch {
	case isMap(a.id):
		return min(b.now-a.began, a.work)
	case a.ready == 0 || a.ready > b.now:
		return 0
	}
	return min(b.now-a.ready, a.work)
}

// kill ends an attempt; what is not there any more has been reported.
func (b *body) kill(m *machine, id cluster.AttemptID) {
	for _, a := range m.running {
		if a.id == id {
			b.end(a, control.AttemptEnded{Attempt: id})
			return
		}
	}
}

// pause has an attempt write its state and end. What it has done is done.
func (b *body) pause(m *machine, id cluster.AttemptID) {
	for _, a := range m.running {
		if a.id != id {
			continue
		}
		a.job.done[id.Task] = a.done + b.worked(a)
		a.plan++ // it does nothing else any more
		b.queue.plan(b.now+b.cfg.Costs.TaskBytes*1000/b.cfg.Costs.DiskRate, func() {
			if !a.over {
				b.end(a, control.AttemptPaused{Attempt: id, Checkpoint: cluster.Checkpoint{Attempt: id, Machine: m.name, Bytes: b.cfg.Costs.TaskBytes}})
			}
		})
		return
	}
}

// tellProgress reports how far an attempt is, again and again.
func (b *body) tellProgress(a *attempt) {
	if b.cfg.Progress < 0 {
		return
	}
	b.queue.plan(b.now+b.cfg.Progress, func() {
		if a.over {
			return
		}
		b.report(a.machine, control.AttemptProgressed{Attempt: a.id, Mark: uint64(b.now), Fraction: b.fraction(a)})
		b.tellProgress(a)
	})
}

// fraction is how far an attempt is: of a reduce two thirds are copying and
// merging.
func (b *body) fraction(a *attempt) float64 {
	share := float64(a.done+b.worked(a)) / float64(max(a.done+a.work, 1))
	if isMap(a.id) {
		return share
	}
	if a.ready != 0 && a.ready <= b.now {
		return 2./3 + share/3
	}
	copied := a.copied + (b.now-a.since)*b.cfg.ShuffleRate/1000
	return min(float64(copied)/float64(max(a.bytes, 1)), 1) * 2 / 3
}
