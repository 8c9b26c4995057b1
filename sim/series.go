package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Sample is how many slots a job has from a time on, until the next sample of
// that job and kind. It is 0 before the first.
type Sample struct {
	At        int64 // ms since the start of the run
	Job, Pool string
	Kind      cluster.Slot // the phase
	Running   int          // attempts that hold slots
	Suspended int          // attempts that stand still, or write what they have to go on elsewhere
}

// series is how the slots of jobs have changed.
type series struct {
	samples []Sample
	uses    map[cluster.AttemptID]slotUse
	changed []*job // since the last sample, maybe more than once
}

// slotUse is what an attempt has of its machine.
type slotUse int

const (
	usesNothing slotUse = iota
	usesSlot
	usesMemory
)

// countSlots follows an attempt that has changed.
func (b *body) countSlots(j *job, id cluster.AttemptID) {
	if !b.cfg.Series {
		return
	}
	_, _, a, _ := b.view.Attempt(id)
	is := usesNothing
	switch {
	case a.HoldsSlot() && !isMigrating(a):
		is = usesSlot
	case a.OnMachine():
		is = usesMemory
	}
	if b.series.uses == nil {
		b.series.uses = make(map[cluster.AttemptID]slotUse)
	}
	slots := &j.slots[phaseOf(id)]
	slots.add(b.series.uses[id], -1)
	slots.add(is, 1)
	b.series.changed = append(b.series.changed, j)
	if b.series.uses[id] = is; is == usesNothing {
		delete(b.series.uses, id)
	}
}

// isMigrating reports whether an attempt that stood still was woken to write what it has
// for another machine. That is in a slot more than its own has, and it gets no further.
func isMigrating(a *cluster.Attempt) bool {
	return a.PreemptRequested() && a.PreemptRequestedAt == a.ResumedAt
}

func (s *Sample) add(is slotUse, n int) {
	switch is {
	case usesSlot:
		s.Running += n
	case usesMemory:
		s.Suspended += n
	}
}

// sample takes down what has changed by the end of a moment.
func (b *body) sample() {
	for _, j := range b.series.changed {
		for kind := range j.slots {
			now := j.slots[kind]
			if now == j.sampled[kind] {
				continue
			}
			j.sampled[kind] = now
			now.At, now.Job, now.Kind = b.time(), j.in.ID, cluster.Slot(kind)
			now.Pool = b.view.Job(j.id).Spec.Pool
			b.series.samples = append(b.series.samples, now)
		}
	}
	b.series.changed = slices.Delete(b.series.changed, 0, len(b.series.changed))
}
