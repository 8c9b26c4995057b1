package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// This file is about segments of finished attempts that a tasknode still has
// when it attaches.

// retainedBy are the attempts, in order, whose output could lie on a machine.
func (m *Master) retainedBy(machine string, names []string) (held []cluster.AttemptID) {
	for _, name := range names {
		id, err := cluster.ParseAttemptID(name)
		if _, _, a, known := m.view.Attempt(id); err == nil && known && a.DataMachine() == machine {
			held = append(held, id)
		}
	}
	slices.SortFunc(held, cluster.AttemptID.Compare)
	return slices.Compact(held)
}

// useRetained makes use of what a machine that has joined holds: readers hear where
// it can be fetched now, and what was given up with the machine is asked for.
func (m *Master) useRetained(a *Attachment) {
	for _, id := range a.retained {
		j, t, attempt, known := m.view.Attempt(id)
		switch {
		case !known || j.State != cluster.JobRunning:
		case t.Winner == attempt && a.addressChanged:
			m.outputRevoked(id)
			m.outputPublished(id)
		case attempt.Lost() && t.State < cluster.TaskSucceeded:
			a.send(&wire.Order{Order: &wire.Order_Repeat_{Repeat: &wire.Order_Repeat{AttemptId: id.String()}}})
		}
	}
	a.addressChanged = false
}

// outputRestored is told what an attempt has left that was given up with its machine.
func (m *Master) outputRestored(a *cluster.Attempt, d *taskproc.Done) {
	m.request(cluster.RestoreOutput{
		Attempt: a.ID, Range: m.keepOutputs(a, d), Output: manifestOf(d), Counters: countersOf(d.Counters),
	})
}
