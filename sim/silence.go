package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// hush notes that nothing is heard of a machine from now on. It is given up when that
// lasts.
func (b *body) hush(m *machine) {
	if m.quiet == 0 {
		m.quiet = b.now
		b.giveUpLater(m)
	}
}

// giveUpLater has a machine be given up by a master that has heard nothing of it for
// long enough while it led.
func (b *body) giveUpLater(m *machine) {
	since := m.quiet
	b.queue.plan(b.now+b.cfg.Expiry, func() {
		known := b.view.Machine(m.name)
		if m.quiet != since || known == nil || known.Lost || !b.led() || b.now < b.masters.since+b.cfg.Expiry {
			return
		}
		if m.lost == nil {
			b.noteFailure(m).At = since - epoch
		}
		b.request(cluster.ExpireMachine{Name: m.name, Epoch: known.Epoch})
	})
}

// silence keeps a tasknode from hearing and being heard until end is called. Its tasks
// go on.
func (b *body) silence(m *machine) (end func()) {
	m.silent++
	b.hush(m)
	instance := m.instance
	return func() {
		if m.dead || m.instance != instance {
			return
		}
		if m.silent--; m.silent == 0 {
			m.quiet = 0
			if l := m.gone; l != nil && l.Back < 0 {
				l.Back = b.time()
			}
			b.attach(m)
		}
	}
}

// abandon ends what runs on a machine that was given up and is there all the same.
func (b *body) abandon(m *machine) {
	for _, a := range m.running {
		b.cease(a)
		a.over = true
	}
	m.running = nil
}

// attached is what comes of a tasknode that has attached: it hears what it should be
// doing, and says again what nobody has taken down.
func (b *body) attached(m *machine, known *cluster.Machine) {
	b.hear(control.MachineConnected{Name: m.name})
	for _, on := range known.Attempts {
		if a := b.attempts[on.ID]; a != nil && a.over && a.word != nil {
			b.report(m, a.word)
		}
	}
	for _, id := range b.held(m) {
		_, t, a, _ := b.view.Attempt(id)
		if did, finished := b.account.did[id]; a.Lost && finished && t.State < cluster.TaskSucceeded {
			b.request(cluster.RestoreOutput{Attempt: id, Range: did})
		}
	}
}

// held are the attempts, in order, whose output or checkpoint lies on the disks of a
// machine.
func (b *body) held(m *machine) (held []cluster.AttemptID) {
	if m.empty == b.now {
		return nil
	}
	for j := range b.view.Jobs() {
		if j.State != cluster.JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				for _, a := range t.Attempts {
					if _, finished := b.account.did[a.ID]; a.Home() == m.name && a.StartedAt >= m.empty && (finished || a.Kept()) {
						held = append(held, a.ID)
					}
				}
			}
		}
	}
	slices.SortFunc(held, cluster.AttemptID.Compare)
	return held
}
