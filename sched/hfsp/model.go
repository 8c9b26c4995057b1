package hfsp

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/share"
)

// model contains all phases and the virtual clusters on which they run. It is a cache: Reset
// replays all events that the state has records of.
type model struct {
	conf   Config
	ledger ledger.Ledger

	phases       map[phaseID]*phase // phases of jobs that are not retired
	virtual      [2]virtual         // by kind of slot
	measurements [2][]measurement   // in the order of measurement.compare
	queues       [2]queue           // by kind of slot
	projections  projections        // phases to be sized by the progress of their samples
}

// measurement is the average duration of the tasks of a measured phase.
type measurement struct {
	at int64
	id phaseID
	ms float64 // average duration of a task, times its slots
}

// compare orders measurements by time.
func (p measurement) compare(other measurement) int {
	return cmp.Or(cmp.Compare(p.at, other.at), p.id.compare(other.id))
}

// reset rebuilds the model from the view. It assumes that slots and priorities were always
// as they are now.
func (m *model) reset(view cluster.View) {
	*m = model{conf: m.conf, phases: make(map[phaseID]*phase)}
	m.ledger.Reset(view)
	for kind, n := range m.ledger.Slots(view) {
		m.virtual[kind].slots = float64(n)
	}
	var all []phaseEvent
	for j := range view.Jobs() {
		for _, p := range m.open(j) {
			p.findSampleAttempts(view, j)
			all = append(all, m.history(view, j, p)...)
		}
	}
	slices.SortFunc(all, phaseEvent.compare)
	for _, h := range all {
		m.happen(view, h)
	}
	for j := range view.Jobs() {
		m.settle(j)
	}
}

// observe updates the model after one applied command, and returns the jobs whose accounts may
// have changed.
func (m *model) observe(now int64, view cluster.View, delta cluster.Delta) (touched []cluster.JobID) {
	touched = m.ledger.Observe(view, delta)
	if len(delta.Machines) > 0 {
		for kind, n := range m.ledger.Slots(view) {
			m.virtual[kind].setSlots(float64(now), float64(n))
		}
	}
	for _, id := range delta.Retired {
		m.forget(id)
	}
	for _, id := range delta.Started {
		m.noteStarted(view, id)
	}
	for _, id := range touched {
		if j := view.Job(id); j != nil {
			m.follow(now, view, j)
		}
	}
	return touched
}

// noteStarted adds an attempt that has started to the list of attempts that may become
// samples.
func (m *model) noteStarted(view cluster.View, id cluster.AttemptID) {
	_, stage, _, _ := view.Task(id.Task)
	p := m.phases[phaseID{id.Task.Job, stage.Slot}]
	if _, _, a, ok := view.Attempt(id); ok && p != nil && p.sized < measured {
		p.note(view, a)
	}
}

// follow applies the events that result from a change of a job.
func (m *model) follow(now int64, view cluster.View, j *cluster.Job) {
	for _, p := range m.open(j) {
		if p.weight != weightOf(j) {
			m.virtual[p.id.kind].advance(float64(now))
			p.weight, m.virtual[p.id.kind].stale = weightOf(j), true
		}
		for _, h := range m.history(view, j, p) {
			m.happen(view, h)
		}
	}
	m.settle(j)
}

// open returns the phases of a job, and makes them if the job is new.
func (m *model) open(j *cluster.Job) (phases []*phase) {
	for kind := range m.queues {
		id := phaseID{j.ID, cluster.Slot(kind)}
		p := m.phases[id]
		if p == nil {
			if p = newPhase(j, id.kind); p == nil {
				continue
			}
			p.weight = weightOf(j)
			m.phases[id] = p
			m.enqueue(p)
		}
		phases = append(phases, p)
	}
	return phases
}

// weightOf returns the weight of a job, as in Hadoop's fair scheduler.
func weightOf(j *cluster.Job) float64 { return share.PriorityWeight(j.EffectivePriority()) }

// forget drops the phases of a retired job. Its part of the virtual cluster goes to the
// others.
func (m *model) forget(id cluster.JobID) {
	for kind := range m.queues {
		if p := m.phases[phaseID{id, cluster.Slot(kind)}]; p != nil {
			m.dequeue(p)
			m.virtual[kind].remove(&p.member)
			delete(m.phases, p.id)
		}
	}
}

// settle counts what the phases of a job have and want.
func (m *model) settle(j *cluster.Job) {
	active := m.ledger.Account(j.ID) != nil && m.ledger.Account(j.ID).Active
	wants := m.wantsOf(j, active)
	for _, p := range m.open(j) {
		m.change(p, state{
			tally: tallyOf(j, p.id.kind), wants: wants[p.id.kind], hasSlots: m.running(p) > 0, over: p.over || !active,
		})
		if m.conf.DeltaMillis >= 0 {
			m.projections.touch(p)
		}
	}
}

// wantsOf returns the wants of a job that would use their slots, by kind.
func (m *model) wantsOf(j *cluster.Job, active bool) (wants [2][]sched.Want) {
	if !active {
		return wants
	}
	for w := range sched.Wants(j) {
		if isUseful(w) {
			wants[w.Stage.Slot] = append(wants[w.Stage.Slot], w)
		}
	}
	return wants
}

// isUseful reports whether tasks would use their slots. A bundle needs all of its stages to
// have input.
func isUseful(w sched.Want) bool {
	if w.Bundle == nil {
		return canWork(w.Stage)
	}
	return !slices.ContainsFunc(w.Bundle.Stages, func(s *cluster.Stage) bool { return !canWork(s) })
}

// compare orders phases by when they finish in the virtual cluster.
func (m *model) compare(a, b *phase) int {
	return cmp.Or(
		cmp.Compare(m.rank(a), m.rank(b)),
		cmp.Compare(a.done, b.done),
		cmp.Compare(a.remaining()/a.weight, b.remaining()/b.weight),
		a.id.compare(b.id),
	)
}

// rank returns the group of a phase in the order: 0 for phases in the virtual cluster; 1 for
// phases of unknown size, if they are to wait for the others; 2 for phases that cannot use
// slots at present; 3 for phases that have not entered.
func (m *model) rank(p *phase) int {
	switch {
	case !p.entered:
		return 3
	case p.stalled:
		return 2
	case p.sized < projected && math.IsInf(m.conf.UnknownSizeFactor[p.id.kind], 1):
		return 1
	}
	return 0
}
