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

// model is all phases and the virtual clusters that they run on. It is a cache:
// Reset plays all that the state has records of again.
type model struct {
	conf   Config
	ledger ledger.Ledger

	phases  map[phaseID]*phase
	virtual [2]virtual
	past    [2][]past // phases that have been measured, by past.compare
	queues  [2]queue
	judging judging
}

// past is what the tasks of a phase took.
type past struct {
	at int64
	id phaseID
	ms float64 // of a task, times its slots
}

func (p past) compare(other past) int {
	return cmp.Or(cmp.Compare(p.at, other.at), p.id.compare(other.id))
}

// reset looks at the state afresh. The slots of the past are taken to be those of
// now, and so are priorities.
func (m *model) reset(view cluster.View) {
	*m = model{conf: m.conf, phases: make(map[phaseID]*phase)}
	m.ledger.Reset(view)
	for kind, n := range m.ledger.Slots(view) {
		m.virtual[kind].slots = float64(n)
	}
	var all []happening
	for j := range view.Jobs() {
		for _, p := range m.open(j) {
			p.findTries(view, j)
			all = append(all, m.history(view, j, p)...)
		}
	}
	slices.SortFunc(all, happening.compare)
	for _, h := range all {
		m.happen(view, h)
	}
	for j := range view.Jobs() {
		m.settle(j)
	}
}

// observe takes a change over.
func (m *model) observe(now int64, view cluster.View, delta cluster.Delta) {
	touched := m.ledger.Observe(view, delta)
	if len(delta.Machines) > 0 {
		for kind, n := range m.ledger.Slots(view) {
			m.virtual[kind].setSlots(float64(now), float64(n))
		}
	}
	for _, id := range delta.Retired {
		m.forget(id)
	}
	for _, id := range delta.Started {
		m.try(view, id)
	}
	for _, id := range touched {
		if j := view.Job(id); j != nil {
			m.follow(now, view, j)
		}
	}
}

func (m *model) try(view cluster.View, id cluster.AttemptID) {
	_, stage, _, _ := view.Task(id.Task)
	p := m.phases[phaseID{id.Task.Job, stage.Slot}]
	if _, _, a, ok := view.Attempt(id); ok && p != nil && p.sized < measured {
		p.note(view, a)
	}
}

// follow lets happen what follows from a change of a job.
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

// open are the phases of a job, which are made when it is new.
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

// weightOf is that of a job's priority, as in Hadoop's fair scheduler.
func weightOf(j *cluster.Job) float64 { return share.PriorityWeight(j.EffectivePriority()) }

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
			tally: tallyOf(j, p.id.kind), wants: wants[p.id.kind], holds: m.running(p) > 0, over: p.over || !active,
		})
		if m.conf.DeltaMillis >= 0 {
			m.judging.touch(p)
		}
	}
}

// wantsOf is what the phases of a job have a use for.
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

// isUseful reports whether tasks would put slots to use.
func isUseful(w sched.Want) bool {
	if w.Bundle == nil {
		return canWork(w.Stage)
	}
	return !slices.ContainsFunc(w.Bundle.Stages, func(s *cluster.Stage) bool { return !canWork(s) })
}

// compare orders phases by when they are done in the virtual cluster. Who nothing
// is known of comes last where that is asked for.
func (m *model) compare(a, b *phase) int {
	return cmp.Or(
		cmp.Compare(m.rank(a), m.rank(b)),
		cmp.Compare(a.done, b.done),
		cmp.Compare(a.remaining()/a.weight, b.remaining()/b.weight),
		a.id.compare(b.id),
	)
}

// rank is 0 for phases in the virtual cluster, 1 for such as nothing is known of
// and are to wait for the others, 2 for those that have no use for the slots that
// they hold, 3 for those that are not in yet.
func (m *model) rank(p *phase) int {
	switch {
	case !p.entered:
		return 3
	case p.stalled:
		return 2
	case p.sized < judged && math.IsInf(m.conf.UnknownSizeFactor[p.id.kind], 1):
		return 1
	}
	return 0
}
