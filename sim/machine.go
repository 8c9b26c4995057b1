package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// machine is a machine of the cluster. Its tasknode obeys and reports; what it
// reports waits for its next heartbeat, if there are any.
type machine struct {
	number   int
	name     string
	rack     string
	dead     bool
	running  []*attempt // in order of start
	instance int        // how often its tasknode was started
}

func (b *body) join(m *machine) {
	m.instance++
	b.request(cluster.JoinMachine{
		Name: m.name, Instance: string(rune('a' + m.instance%26)), Rack: m.rack, Hosts: []string{m.name},
		Slots: [2]int{b.cfg.MapSlots, b.cfg.ReduceSlots},
	})
}

// fail ends a machine with all that runs there. It is given up when it has been
// silent for long enough, or comes back before with nothing of what it had.
func (b *body) fail(m *machine, back int64) {
	if m.dead {
		return
	}
	m.dead = true
	for _, a := range m.running {
		a.over = true
	}
	m.running = nil
	b.queue.plan(b.now+b.cfg.Expiry, func() {
		if known := b.view.Machine(m.name); m.dead && !known.Lost {
			b.request(cluster.ExpireMachine{Name: m.name, Epoch: known.Epoch})
		}
	})
	if back > 0 {
		b.queue.plan(b.now+back, func() {
			m.dead = false
			b.join(m)
		})
	}
}

// obey carries an order to its machine.
func (b *body) obey(o control.Order) {
	m := b.byName[o.Machine]
	b.queue.plan(b.now+b.cfg.Latency, func() {
		if m.dead {
			return
		}
		switch o.Kind {
		case control.OrderStart:
			b.start(m, o.Attempt)
		case control.OrderKill:
			b.kill(m, o.Attempt)
		case control.OrderPause:
			b.pause(m, o.Attempt)
		}
	})
}

// report has the master hear something from a machine, unless the machine is
// lost before it has said it.
func (b *body) report(m *machine, ev control.Event) {
	at, instance := b.now, m.instance
	if beat := b.cfg.Heartbeat; beat > 0 {
		phase := int64(noise(b.cfg.Seed, "heartbeat", m.number, 0) % uint64(beat))
		at += (phase - at%beat + beat) % beat
	}
	b.queue.plan(at+b.cfg.Latency, func() {
		if !m.dead && m.instance == instance {
			b.hear(ev)
		}
	})
}
