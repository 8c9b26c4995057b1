package hfsp

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// happening is something that happens to a phase on the virtual cluster. All of
// them can be told from the state, with the time at which they happened: so they
// can be told again, and come to the same.
type happening struct {
	at      int64
	what    event
	phase   *phase
	samples []float64 // of a measurement
}

// event is what happens, in the order in which it does at one moment.
type event int

const (
	enters  event = iota // its first tasks may start
	measure              // its samples are through
	giveUp               // too many samples have failed
	leaves               // its job has failed or was killed
)

// compare is the order in which things happen.
func (h happening) compare(other happening) int {
	return cmp.Or(cmp.Compare(h.at, other.at), cmp.Compare(h.what, other.what), h.phase.id.compare(other.phase.id))
}

// maxFailures is how many times as many attempts as there are samples may fail
// before a phase is in training no longer.
const maxFailures = 4

// history is what has happened to a phase that has not been told of yet.
func (m *model) history(view cluster.View, j *cluster.Job, p *phase) (all []happening) {
	entered := p.entered
	if !entered {
		var at int64
		if at, entered = enteredAt(j, p.id.kind); entered {
			all = append(all, happening{at: at, what: enters, phase: p})
		}
	}
	if samples := m.conf.Samples[p.id.kind]; entered && p.sized < measured {
		most := min(samples, p.tasks)
		if times, at := p.samples(view, most); len(times) == most {
			all = append(all, happening{at: at, what: measure, phase: p, samples: times})
		} else if at := p.giveUpAt(view, j, maxFailures*samples); at > 0 && p.sized == guessed {
			all = append(all, happening{at: at, what: giveUp, phase: p})
		}
	}
	if j.State == cluster.JobFailed || j.State == cluster.JobKilled {
		all = append(all, happening{at: j.FinishedAt, what: leaves, phase: p})
	}
	return all
}

// happen lets time pass until something happens, and lets it happen.
func (m *model) happen(view cluster.View, h happening) {
	p, v := h.phase, &m.virtual[h.phase.id.kind]
	j := view.Job(p.id.job)
	if h.what == giveUp {
		p.sized = max(p.sized, awaited)
		return
	}
	if h.what == measure && p.sized == measured {
		return // the size was known before
	}
	v.advance(float64(h.at))
	switch h.what {
	case enters:
		p.entered = true
		m.queues[p.id.kind].sorted = false
		if size, known := m.conf.Estimator.Size(j, p.id.kind, p.tasks, nil); known {
			p.sized, p.tries = measured, nil
			v.resize(&p.member, p.bound(size))
		} else {
			v.resize(&p.member, p.bound(m.guess(p, h.at)))
		}
	case measure:
		if size, known := m.conf.Estimator.Size(j, p.id.kind, p.tasks, h.samples); known {
			p.sized, p.tries = measured, nil
			v.resize(&p.member, p.bound(size))
			m.remember(past{h.at, p.id, mean(h.samples)})
		}
	case leaves:
		p.size = p.aged
		v.remove(&p.member)
	}
}

// bound keeps a size within reason: no task takes less than 1 ms.
func (p *phase) bound(size float64) float64 {
	return min(max(size, float64(p.tasks)), math.MaxInt64)
}

// memory is of how many phases it is remembered what their tasks took.
const memory = 20

// guess is the size of a phase that begins: its tasks are taken for those of the
// phases that were measured last before.
func (m *model) guess(p *phase, at int64) float64 {
	kind := p.id.kind
	before, _ := slices.BinarySearchFunc(m.past[kind], past{at: at}, func(a, b past) int { return cmp.Compare(a.at, b.at) })
	known := m.past[kind][max(before-memory, 0):before]
	task := float64(m.conf.InitialMillis[kind])
	if len(known) > 0 {
		task = 0
		for _, k := range known {
			task += k.ms / float64(len(known))
		}
	}
	if doubt := m.conf.UnknownSizeFactor[kind]; !math.IsInf(doubt, 1) {
		task *= doubt
	}
	return task * float64(p.tasks)
}

func (m *model) remember(p past) {
	list := &m.past[p.id.kind]
	i, _ := slices.BinarySearchFunc(*list, p, past.compare)
	*list = slices.Insert(*list, i, p)
	if len(*list) > 8*memory { // of which many may have been measured at one moment
		*list = slices.Delete(*list, 0, 4*memory)
	}
}
