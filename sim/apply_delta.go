package sim

import "github.com/hammr/hammr/cluster"

// applyDelta updates the model after a change of the state.
//
// The order matters: machines first, since an expiry ends attempts; freed slots last. It
// changes only the model, never the state.
func (b *body) applyDelta(delta cluster.Delta) {
	b.applyJobDelta(delta)
	if b.cfg.UserShares {
		b.userShares.watch(b.view, delta)
	}
	for _, name := range delta.Machines {
		m, known := b.byName[name], b.view.Machine(name)
		if !known.Lost && known.Instance == m.instanceName() {
			m.knownInstance = m.instance
		}
		b.noteExpiry(m, delta)
		switch {
		case b.cfg.InjectFaults == nil:
		case known.Lost:
			b.endAttemptsOn(m)
		case m.silentSince == 0 && m.knownInstance == m.instance:
			b.sessionStarted(m, known)
		}
	}
	for _, id := range delta.Started {
		b.noteRecovery(id)
		b.attemptChanged(id)
	}
	for _, id := range delta.Ended {
		_, _, a, _ := b.view.Attempt(id)
		b.settlePreemption(a)
		b.attemptChanged(id)
	}
	for _, id := range delta.OrdersChanged {
		b.attemptChanged(id)
	}
	for _, id := range delta.Freed {
		delete(b.attempts, id)
		b.attemptChanged(id)
	}
	for _, id := range delta.Revoked {
		b.jobs[id.Task.Job].revoke(id)
		b.outputChanged(id)
	}
	for _, id := range delta.Published {
		delete(b.jobs[id.Task.Job].revoked, id)
		b.outputChanged(id)
	}
}

// applyJobDelta records submitted and finished jobs. Job ids are given by the state, in the
// order of submission.
func (b *body) applyJobDelta(delta cluster.Delta) {
	if delta.Submitted != (cluster.JobID{}) {
		j := b.submitted[len(b.jobs)] // jobs are submitted in this order
		j.id = delta.Submitted
		b.jobs[j.id] = j
	}
	for _, id := range delta.Jobs {
		j := b.jobs[id]
		if !j.ended && b.view.Job(id).State.Final() {
			j.ended = true
			b.unfinished--
		}
	}
}

func (b *body) outputChanged(id cluster.AttemptID) {
	if id.Task.Stage == "m" {
		b.updateCopies(b.jobs[id.Task.Job])
	}
	b.attemptChanged(id)
}

// attemptChanged updates what depends on the state of an attempt.
func (b *body) attemptChanged(id cluster.AttemptID) {
	j := b.jobs[id.Task.Job]
	b.fireFailures(j)
	b.countSlots(j, id)
}
