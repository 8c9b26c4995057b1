package sim

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// updateCopies updates the reduces of a job that copy, after the set of finished maps has
// changed.
func (b *body) updateCopies(j *job) {
	all := b.view.Job(j.id).Stages[0].Complete()
	for _, a := range j.copying {
		b.updateCopy(a, all)
	}
}

// updateCopy computes when a copying reduce has all its input: some time after the last map
// has finished. The model does not know which outputs are copied before that; it assumes
// that copying keeps pace with the maps.
//
//	maps run            all maps finished                inputReadyAt
//	───── copied ≤ most ───────┼── copies the rest at rate ──┼── own work ──► finish
//	                           └── output lost: back to waiting, unless all is fetched
func (b *body) updateCopy(a *attempt, allMaps bool) {
	switch {
	case a.inputReadyAt == 0 && (allMaps || a.fetched):
		b.updateProgress(a)
		a.inputReadyAt = b.now
		if !a.fetched {
			a.inputReadyAt += scale(a.bytes-a.copied, 1000, a.rate)
		}
		b.planCorruptRead(a)
		b.planFinish(a, a.inputReadyAt+a.ownWork-a.workDone)
	case a.inputReadyAt > b.now && !allMaps: // output was lost before it was copied
		b.updateProgress(a)
		a.inputReadyAt = 0
		a.planned++
	}
}

// copiedAt returns the bytes that a reduce has copied at a time not before since. While maps
// run, the part of the last map is never copied. So progress in the copy phase stays below
// two thirds while maps run, as Hadoop's does.
func (a *attempt) copiedAt(at int64) int64 {
	switch {
	case a.stalled || a.bytes == 0:
		return a.copied
	case a.fetchedAt(at):
		return a.bytes
	}
	copied := a.copied + scale(at-a.since, a.rate, 1000)
	most := a.bytes
	if a.inputReadyAt == 0 {
		most -= a.bytes / int64(max(1, len(a.job.in.Maps)))
	}
	return max(a.copied, min(copied, most))
}

// fetchedAt reports whether a reduce has all its input at a time not before since.
func (a *attempt) fetchedAt(at int64) bool {
	return a.fetched || !a.stalled && a.inputReadyAt > 0 && a.inputReadyAt <= at
}

// corruptOutput corrupts the output of a finished map on a machine, if a reduce may still
// read it. It chooses the first such map in the order of submission, and each output only
// once. It reports whether it has found one.
func (b *body) corruptOutput(m *machine) bool {
	for _, j := range b.submitted {
		s := b.view.Job(j.id)
		if s == nil || s.State != cluster.JobRunning || len(s.Stages) < 2 {
			continue
		}
		for _, t := range s.Stages[0].Tasks {
			if w := t.Winner; w != nil && !w.Lost() && w.DataMachine() == m.name && !slices.Contains(j.corrupted, w.ID) {
				j.corrupted = append(j.corrupted, w.ID)
				for _, a := range j.copying {
					b.planCorruptRead(a)
				}
				return true
			}
		}
	}
	return false
}

// planCorruptRead makes a copying reduce fail on corrupted output when it has all its
// input. The reduce reports the map to blame, and the master runs that map again.
func (b *body) planCorruptRead(a *attempt) {
	if len(a.job.corrupted) == 0 || a.fetched || a.inputReadyAt == 0 || a.inputReadyAt < b.now {
		return
	}
	plan, ready := a.since, a.inputReadyAt
	b.queue.plan(ready, func() {
		if a.ended || a.stalled || a.since != plan || a.inputReadyAt != ready {
			return
		}
		for _, id := range a.job.corrupted {
			if _, t, w, ok := b.view.Attempt(id); ok && t.Winner == w {
				failure := cluster.Failure{Cause: fmt.Sprintf("the output of %v is damaged", id), Offset: -1}
				b.endAttempt(a, control.AttemptFailed{Attempt: a.id, Failure: failure, LostOutput: id})
				return
			}
		}
	})
}
