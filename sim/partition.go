package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// markSilent notes that nothing is heard of a machine from now on. It is given up when that
// lasts.
func (b *body) markSilent(m *machine) {
	if m.silentSince == 0 {
		m.silentSince = b.now
		b.planExpiry(m)
	}
}

// planExpiry has a machine be given up by a master that has heard nothing of it for
// long enough while it led.
func (b *body) planExpiry(m *machine) {
	since := m.silentSince
	b.queue.plan(b.now+b.cfg.Expiry, func() {
		known := b.view.Machine(m.name)
		if m.silentSince != since || known == nil || known.Lost || !b.hasLeader() || b.now < b.masters.leaderSince+b.cfg.Expiry {
			return
		}
		if m.pendingLoss == nil {
			b.noteFailure(m).At = since - epoch
		}
		b.request(cluster.ExpireMachine{Name: m.name, Epoch: known.Epoch})
	})
}

// partition keeps a tasknode from hearing and being heard until end is called. Its tasks
// go on.
func (b *body) partition(m *machine) (end func()) {
	m.partitions++
	b.markSilent(m)
	instance := m.instance
	return func() {
		if m.dead || m.instance != instance {
			return
		}
		if m.partitions--; m.partitions == 0 {
			m.silentSince = 0
			if l := m.lastFailure; l != nil && l.Back < 0 {
				l.Back = b.time()
			}
			b.attach(m)
		}
	}
}

// endExpiredAttempts ends what runs on a machine that was given up and is there all the same.
func (b *body) endExpiredAttempts(m *machine) {
	for _, a := range m.running {
		b.stall(a)
		a.ended = true
	}
	m.running = nil
}

// sessionStarted is what comes of a tasknode that has attached: it hears what it should be
// doing, and says again what nobody has taken down.
func (b *body) sessionStarted(m *machine, known *cluster.Machine) {
	b.enqueue(control.MachineConnected{Name: m.name})
	for _, on := range known.Attempts {
		if a := b.attempts[on.ID]; a != nil && a.ended && a.pendingReport != nil {
			b.report(m, a.pendingReport)
		}
	}
	for _, id := range b.retained(m) {
		_, t, a, _ := b.view.Attempt(id)
		if did, finished := b.account.finishedRanges[id]; a.Lost() && finished && t.State < cluster.TaskSucceeded {
			b.request(cluster.RestoreOutput{Attempt: id, Range: did})
		}
	}
}

// retained are the attempts, in order, whose output or checkpoint lies on the disks of a
// machine.
func (b *body) retained(m *machine) (held []cluster.AttemptID) {
	if m.emptiedAt == b.now {
		return nil
	}
	for j := range b.view.Jobs() {
		if j.State != cluster.JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				for _, a := range t.Attempts {
					if _, finished := b.account.finishedRanges[a.ID]; a.DataMachine() == m.name && a.StartedAt >= m.emptiedAt && (finished || a.WorkKept()) {
						held = append(held, a.ID)
					}
				}
			}
		}
	}
	slices.SortFunc(held, cluster.AttemptID.Compare)
	return held
}
