package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// markSilent records that a machine sends nothing from now on, and plans its expiry.
func (b *body) markSilent(m *machine) {
	if m.silentSince == 0 {
		m.silentSince = b.now
		b.planExpiry(m)
	}
}

// planExpiry declares a machine lost if a leader receives no message from it for
// Config.Expiry.
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

// partition cuts a tasknode off from the masters until end is called. Its tasks continue.
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

// endAttemptsOn ends what runs on a machine that has failed, or was declared lost but is up.
func (b *body) endAttemptsOn(m *machine) {
	for _, a := range m.running {
		b.stall(a)
		a.ended = true
	}
	m.running = nil
}

// sessionStarted carries out a tasknode's join: it gets its orders, and repeats the reports
// that are not in the log.
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

// retained lists, in order, the attempts whose output or checkpoint lies on the disks of a
// machine.
func (b *body) retained(m *machine) (attempts []cluster.AttemptID) {
	if m.emptiedAt == b.now {
		return nil
	}
	for j := range b.view.Jobs() {
		if j.State != cluster.JobRunning {
			continue
		}
		for _, a := range j.Attempts() {
			if _, finished := b.account.finishedRanges[a.ID]; a.DataMachine() == m.name && a.StartedAt >= m.emptiedAt && (finished || a.WorkKept()) {
				attempts = append(attempts, a.ID)
			}
		}
	}
	slices.SortFunc(attempts, cluster.AttemptID.Compare)
	return attempts
}
