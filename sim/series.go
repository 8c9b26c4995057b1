package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Sample is the number of slots of a job's phase from a time until the next sample of it.
// Before the first sample the job has none.
type Sample struct {
	At        int64 // ms since the start of the run
	Job, Pool string
	Kind      cluster.Slot // phase
	Running   int          // attempts that occupy slots
	Suspended int          // attempts that are suspended or migrate
}

// series records how the slots of jobs change.
type series struct {
	samples []Sample
	uses    map[cluster.AttemptID]slotUse
	changed []*job // since the last sample, with repetitions
}

// slotUse is the kind of slot or memory that an attempt uses on its machine.
type slotUse int

const (
	usesNothing slotUse = iota
	usesSlot
	usesMemory
)

// countSlots updates the counts after an attempt has changed.
func (b *body) countSlots(j *job, id cluster.AttemptID) {
	if !b.cfg.Series {
		return
	}
	_, _, a, _ := b.view.Attempt(id)
	use := usesNothing
	switch {
	case a.OccupiesSlot() && !isMigrating(a):
		use = usesSlot
	case a.OnMachine():
		use = usesMemory
	}
	if b.series.uses == nil {
		b.series.uses = make(map[cluster.AttemptID]slotUse)
	}
	slots := &j.slots[phaseOf(id)]
	slots.add(b.series.uses[id], -1)
	slots.add(use, 1)
	b.series.changed = append(b.series.changed, j)
	if b.series.uses[id] = use; use == usesNothing {
		delete(b.series.uses, id)
	}
}

// isMigrating reports whether a suspended attempt was woken to save its work for another
// machine. It then uses a slot beyond those of its machine, and makes no progress.
func isMigrating(a *cluster.Attempt) bool {
	return a.PreemptRequested() && a.PreemptRequestedAt == a.ResumedAt
}

func (s *Sample) add(use slotUse, n int) {
	switch use {
	case usesSlot:
		s.Running += n
	case usesMemory:
		s.Suspended += n
	}
}

// sample records what has changed by the end of a moment. Changes within one millisecond
// are not visible: a slot that is given from one task to the next has no gap.
func (b *body) sample() {
	b.userShares.sample(b.view, b.now)
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
