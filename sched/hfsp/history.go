package hfsp

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// phaseEvent is an event of a phase on the virtual cluster. All events follow from the
// state, with the time at which they happened, so that they can be replayed.
type phaseEvent struct {
	at      int64 // ms since the epoch
	kind    eventKind
	phase   *phase
	samples []float64 // durations, for a measure event
}

// eventKind is the kind of an event. Events of the same time are handled in this order:
//
//	enters ──► measure        the size is known
//	       ├─► giveUp         it stays a guess: too many samples have failed
//	       └─► leaves         the job has failed or was killed
//
// A phase whose job succeeds has no last event: it stays until it is done in the virtual
// cluster (the paper, section 3.3).
type eventKind int

const (
	enters  eventKind = iota // its first tasks may start
	measure                  // its samples have finished
	giveUp                   // too many samples have failed
	leaves                   // its job has failed or was killed
)

// compare orders events by time.
func (h phaseEvent) compare(other phaseEvent) int {
	return cmp.Or(cmp.Compare(h.at, other.at), cmp.Compare(h.kind, other.kind), h.phase.id.compare(other.phase.id))
}

// maxFailures is the number of failed attempts, per sample, that ends the training of a
// phase.
const maxFailures = 4

// history returns the events of a phase that have not been applied yet.
func (m *model) history(view cluster.View, j *cluster.Job, p *phase) (all []phaseEvent) {
	entered := p.entered
	if !entered {
		var at int64
		if at, entered = enteredAt(j, p.id.kind); entered {
			all = append(all, phaseEvent{at: at, kind: enters, phase: p})
		}
	}
	if samples := m.conf.Samples[p.id.kind]; entered && p.sized < measured {
		most := min(samples, p.tasks)
		if times, at := p.samples(view, most); len(times) == most {
			all = append(all, phaseEvent{at: at, kind: measure, phase: p, samples: times})
		} else if at := p.giveUpAt(view, j, maxFailures*samples); at > 0 && p.sized == guessed {
			all = append(all, phaseEvent{at: at, kind: giveUp, phase: p})
		}
	}
	if j.State == cluster.JobFailed || j.State == cluster.JobKilled {
		all = append(all, phaseEvent{at: j.FinishedAt, kind: leaves, phase: p})
	}
	return all
}

// happen advances the virtual cluster to an event and applies it. In reset, events come in
// the order of their times; later they come as they are found. The virtual cluster never
// goes back in time.
func (m *model) happen(view cluster.View, h phaseEvent) {
	p, v := h.phase, &m.virtual[h.phase.id.kind]
	j := view.Job(p.id.job)
	if h.kind == giveUp {
		p.sized = max(p.sized, samplesFailed)
		return
	}
	if h.kind == measure && p.sized == measured {
		return // the size is known already
	}
	v.advance(float64(h.at))
	switch h.kind {
	case enters:
		p.entered = true
		m.queues[p.id.kind].sorted = false
		if size, known := m.conf.Estimator.Size(j, p.id.kind, p.tasks, nil); known {
			p.sized, p.sampleAttempts = measured, nil
			v.resize(&p.member, p.bound(size))
		} else {
			v.resize(&p.member, p.bound(m.guess(p, h.at)))
		}
	case measure:
		if size, known := m.conf.Estimator.Size(j, p.id.kind, p.tasks, h.samples); known {
			p.sized, p.sampleAttempts = measured, nil
			v.resize(&p.member, p.bound(size))
			m.addMeasurement(measurement{h.at, p.id, mean(h.samples)})
		}
	case leaves:
		p.size = p.aged
		v.remove(&p.member)
	}
}

// bound limits a size to a sensible range: no task takes less than 1 ms.
func (p *phase) bound(size float64) float64 {
	return min(max(size, float64(p.tasks)), math.MaxInt64)
}

// guessHistory is the number of measured phases over which a guess averages.
const guessHistory = 20

// guess returns the size of a phase that begins: it assumes that its tasks last as long as
// the tasks of the phases measured last before.
func (m *model) guess(p *phase, at int64) float64 {
	kind := p.id.kind
	before, _ := slices.BinarySearchFunc(m.measurements[kind], measurement{at: at}, func(a, b measurement) int { return cmp.Compare(a.at, b.at) })
	known := m.measurements[kind][max(before-guessHistory, 0):before]
	task := float64(m.conf.InitialMillis[kind])
	if len(known) > 0 {
		task = 0
		for _, k := range known {
			task += k.ms / float64(len(known))
		}
	}
	if factor := m.conf.UnknownSizeFactor[kind]; !math.IsInf(factor, 1) {
		task *= factor
	}
	return task * float64(p.tasks)
}

// addMeasurement stores how long the tasks of a phase lasted, for guesses. Only the latest
// measurements are kept.
func (m *model) addMeasurement(p measurement) {
	list := &m.measurements[p.id.kind]
	i, _ := slices.BinarySearchFunc(*list, p, measurement.compare)
	*list = slices.Insert(*list, i, p)
	if len(*list) > 8*guessHistory { // many of them may have been measured at the same time
		*list = slices.Delete(*list, 0, 4*guessHistory)
	}
}
