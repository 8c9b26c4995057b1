package sim

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// mapsChanged looks again at the reduces of a job that copy.
func (b *body) mapsChanged(j *job) {
	all := b.view.Job(j.id).Stages[0].Complete()
	for _, a := range j.copying {
		b.copyOn(a, all)
	}
}

// copyOn finds when a reduce that copies is through: some time after the last map
// has finished. What it copies until then, and whether that is there yet, is taken
// to keep pace.
func (b *body) copyOn(a *attempt, allMaps bool) {
	switch {
	case a.ready == 0 && (allMaps || a.fetched):
		b.settle(a)
		a.ready = b.now
		if !a.fetched {
			a.ready += scale(a.bytes-a.copied, 1000, a.rate)
		}
		b.taste(a)
		b.finishAt(a, a.ready+a.work-a.worked)
	case a.ready > b.now && !allMaps: // output was lost that it had not copied
		b.settle(a)
		a.ready = 0
		a.plan++
	}
}

// copiedAt is how many bytes a reduce has copied at a time from since on. While
// maps run, the last one's part at least is left.
func (a *attempt) copiedAt(at int64) int64 {
	switch {
	case a.stands || a.bytes == 0:
		return a.copied
	case a.fetchedAt(at):
		return a.bytes
	}
	copied := a.copied + scale(at-a.since, a.rate, 1000)
	most := a.bytes
	if a.ready == 0 {
		most -= a.bytes / int64(max(1, len(a.job.in.Maps)))
	}
	return max(a.copied, min(copied, most))
}

// fetchedAt reports whether a reduce has all its input at a time from since on.
func (a *attempt) fetchedAt(at int64) bool {
	return a.fetched || !a.stands && a.ready > 0 && a.ready <= at
}

// damage has the output of a finished map on a machine be bad, if there is one that
// may still be read, and reports whether there is.
func (b *body) damage(m *machine) bool {
	for _, j := range b.order {
		s := b.view.Job(j.id)
		if s == nil || s.State != cluster.JobRunning || len(s.Stages) < 2 {
			continue
		}
		for _, t := range s.Stages[0].Tasks {
			if w := t.Winner; w != nil && !w.Lost && w.Home() == m.name && !slices.Contains(j.bad, w.ID) {
				j.bad = append(j.bad, w.ID)
				for _, a := range j.copying {
					b.taste(a)
				}
				return true
			}
		}
	}
	return false
}

// taste has a reduce that is copying find out, when it has all its input, that some of
// it is bad.
func (b *body) taste(a *attempt) {
	if len(a.job.bad) == 0 || a.fetched || a.ready == 0 || a.ready < b.now {
		return
	}
	plan, ready := a.since, a.ready
	b.queue.plan(ready, func() {
		if a.over || a.stands || a.since != plan || a.ready != ready {
			return
		}
		for _, id := range a.job.bad {
			if _, t, w, ok := b.view.Attempt(id); ok && t.Winner == w {
				failure := cluster.Failure{Cause: fmt.Sprintf("the output of %v is damaged", id), Offset: -1}
				b.end(a, control.AttemptFailed{Attempt: a.id, Failure: failure, LostMap: id})
				return
			}
		}
	})
}
