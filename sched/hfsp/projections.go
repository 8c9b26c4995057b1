package hfsp

import (
	"github.com/hammr/hammr/internal/kit/minheap"
	"github.com/hammr/hammr/sched"
)

// projections lists the phases in training that may be sized by the progress of their
// samples, and when. Phases that have changed are due at once, the others when another
// sample has run for long enough. The paper sizes reduces this way (section 3.2.3), because
// they take too long to wait for their ends.
type projections struct {
	touched []*phase            // phases that have changed since the last decision, each once
	later   minheap.Heap[trial] // trials by time; an entry is stale if its phase has another projectAt
}

// touch makes a phase that has changed due.
func (g *projections) touch(p *phase) {
	if p.training() && !p.touched {
		p.touched = true
		g.touched = append(g.touched, p)
	}
}

// due returns the phases that are due.
func (g *projections) due(now int64) (due []*phase) {
	due, g.touched = g.touched, nil
	for g.next() != 0 && g.next() <= now {
		if p := g.later.Pop().phase; !p.touched {
			p.touched = true
			due = append(due, p)
		}
	}
	for _, p := range due {
		p.touched = false
	}
	return due
}

// wait makes a phase due at a time, unless it changes before; 0 is never.
func (g *projections) wait(p *phase, at int64) {
	if at != 0 && at != p.projectAt {
		g.later.Push(trial{p, at})
	}
	p.projectAt = at
}

// next returns the time at which the next phase is due if nothing changes; 0 is never.
func (g *projections) next() int64 {
	for len(g.later) > 0 {
		if first := g.later[0]; first.training() && first.projectAt == first.at {
			return first.at
		}
		g.later.Pop()
	}
	return 0
}

// projectSizes sizes the phases that are due by the progress of their samples (the paper's
// section on the reduce phase); wake is the time at which the next phase is due. The state
// does not record these sizes: after a Reset they are computed again.
func (m *model) projectSizes(now int64, view sched.View) (wake int64) {
	if view.SoftState == nil || m.conf.DeltaMillis < 0 {
		return 0
	}
	for _, p := range m.projections.due(now) {
		if p.training() {
			m.projectPhase(now, view, p)
		}
	}
	return m.projections.next()
}

// projectPhase sizes one phase, or notes when another of its samples will have run for
// Delta.
func (m *model) projectPhase(now int64, view sched.View, p *phase) {
	kind := p.id.kind
	times, soon, ok := p.projectSizes(now, view, min(m.conf.Samples[kind], p.tasks), m.conf.DeltaMillis)
	if !ok {
		m.projections.wait(p, soon)
		return
	}
	size, known := m.conf.Estimator.Size(view.Job(p.id.job), kind, p.tasks, times)
	if !known {
		return
	}
	p.sized = projected
	m.virtual[kind].advance(float64(now))
	m.virtual[kind].resize(&p.member, p.bound(size))
	m.change(p, p.state)
}

// trial is a phase that is due at a time.
type trial struct {
	*phase
	at int64
}

// Before orders trials by time.
func (t trial) Before(other trial) bool { return t.at < other.at }
