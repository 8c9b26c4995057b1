package sim

import "github.com/hammr/hammr/cluster"

// follow notes what a change of the state means for the world.
func (b *body) follow(delta cluster.Delta) {
	b.followJobs(delta)
	for _, name := range delta.Machines {
		m, known := b.byName[name], b.view.Machine(name)
		if !known.Lost && known.Instance == m.instanceName() {
			m.known = m.instance
		}
		b.noteVerdict(m, delta)
		switch {
		case b.cfg.Disturb == nil:
		case known.Lost:
			b.abandon(m)
		case m.quiet == 0 && m.known == m.instance:
			b.attached(m, known)
		}
	}
	for _, id := range delta.Started {
		b.noteRecovery(id)
		b.touch(id)
	}
	for _, id := range delta.Ended {
		_, _, a, _ := b.view.Attempt(id)
		b.settleAsked(a)
		b.touch(id)
	}
	for _, id := range delta.Asked {
		b.touch(id)
	}
	for _, id := range delta.Freed {
		delete(b.attempts, id)
		b.touch(id)
	}
	for _, id := range delta.Revoked {
		b.jobs[id.Task.Job].revoke(id)
		b.mapChanged(id)
	}
	for _, id := range delta.Published {
		delete(b.jobs[id.Task.Job].revoked, id)
		b.mapChanged(id)
	}
}

// followJobs notes which jobs there are, and which are over.
func (b *body) followJobs(delta cluster.Delta) {
	if delta.Submitted != (cluster.JobID{}) {
		j := b.order[len(b.jobs)] // they are submitted in this order
		j.id = delta.Submitted
		b.jobs[j.id] = j
	}
	for _, id := range delta.Jobs {
		j := b.jobs[id]
		if !j.over && b.view.Job(id).State.Final() {
			j.over = true
			b.left--
		}
		b.watch(j)
	}
}

func (b *body) mapChanged(id cluster.AttemptID) {
	if id.Task.Stage == "m" {
		b.mapsChanged(b.jobs[id.Task.Job])
	}
	b.touch(id)
}

// touch looks at what depends on an attempt that has changed.
func (b *body) touch(id cluster.AttemptID) {
	j := b.jobs[id.Task.Job]
	b.trigger(j)
	b.watch(j)
	b.count(j, id)
}
