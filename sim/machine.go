package sim

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/preempt"
)

// machine is a machine of the cluster. Its tasknode obeys and reports; what it
// reports waits for its next heartbeat, if there are any.
type machine struct {
	number        int
	name          string
	rack          string
	dead          bool
	running       []*attempt // in order of start
	instance      int        // how often its tasknode was started
	knownInstance int        // which of them the state has
	partitions    int        // how many troubles keep it from being heard, or from hearing
	silentSince   int64      // since when it is dead or silent; 0 when it is neither
	emptiedAt     int64      // since when it has what is on its disks

	diskBusyUntil   int64        // until when it writes and reads what it has been asked to
	leavingAt       [2][]int64   // by kind of slot, ascending: when suspended attempts will have left theirs
	pendingLoss     *loss        // what its failure costs, until it is given up; else nil
	lastFailure     *LostMachine // its last failure; nil for none
	heartbeatOffset int64        // of its heartbeats
}

// MachineName is what the state, decisions, tasks.csv and pictures call the machine
// of a number from 0: n0001 is the first.
func MachineName(number int) string { return fmt.Sprintf("n%04d", number+1) }

// slotsOf is how many slots of a kind a machine has.
func (b *body) slotsOf(kind cluster.Slot) int {
	return [2]int{b.cfg.MapSlots, b.cfg.ReduceSlots}[kind]
}

// slotFreeAt is when a slot that the master has given out is there: those that have been
// suspended may still hold theirs.
func (m *machine) slotFreeAt(kind cluster.Slot, slots int, now int64) int64 {
	m.leavingAt[kind] = slices.DeleteFunc(m.leavingAt[kind], func(at int64) bool { return at <= now })
	busy := len(m.leavingAt[kind])
	for _, a := range m.running {
		if a.kind == kind && !a.suspended {
			busy++
		}
	}
	if busy < slots || len(m.leavingAt[kind]) == 0 {
		return now
	}
	at := m.leavingAt[kind][0]
	m.leavingAt[kind] = m.leavingAt[kind][1:]
	return at
}

// reserveDisk is when the memory of a task will have been written to the disk of a
// machine or read from it, from a time on: what else it has to do comes before.
func (b *body) reserveDisk(m *machine, from, rate int64) int64 {
	m.diskBusyUntil = max(m.diskBusyUntil, from) + scale(b.cfg.Costs.TaskBytes, 1000, rate)
	return m.diskBusyUntil
}

// startTasknode has a tasknode begin.
func (b *body) startTasknode(m *machine) {
	m.instance++
	m.partitions, m.silentSince = 0, 0
	b.attach(m)
}

// instanceName tells one start of a tasknode from the next.
func (m *machine) instanceName() string { return string(rune('a' + m.instance%26)) }

// attach has a tasknode say what it is to the master that leads.
func (b *body) attach(m *machine) {
	c := cluster.JoinMachine{
		Name: m.name, Instance: m.instanceName(), Rack: m.rack, Hosts: []string{m.name},
		Slots: [2]int{b.cfg.MapSlots, b.cfg.ReduceSlots},
	}
	if known := b.view.Machine(m.name); known != nil && (known.Lost || known.Instance != c.Instance) {
		c.Retained = b.retained(m)
	}
	b.request(c)
}

// failMachine ends a machine with all that runs there. It is given up when it has been
// silent for long enough, or comes back before that, with its disks or empty.
func (b *body) failMachine(m *machine, back int64, keeps bool) {
	if m.dead {
		return
	}
	m.dead = true
	b.markSilent(m)
	record := b.noteFailure(m)
	for _, a := range m.running {
		b.stall(a)
		a.ended = true
	}
	m.running, m.leavingAt, m.diskBusyUntil = nil, [2][]int64{}, 0
	if back > 0 {
		b.queue.plan(b.now+back, func() {
			m.dead, record.Back = false, b.time()
			if !keeps {
				m.emptiedAt = b.now
			}
			b.startTasknode(m)
		})
	}
}

// deliver carries an order to its machine, unless that is started anew meanwhile.
func (b *body) deliver(o control.Order) {
	m := b.byName[o.Machine]
	instance := m.instance
	if m.knownInstance != instance { // it is meant for the tasknode that was there before
		return
	}
	b.queue.plan(b.now+b.cfg.Latency, func() {
		a := b.attempts[o.Attempt]
		switch {
		case m.silentSince != 0 || m.instance != instance: // it hears what it should be doing when it attaches
		case o.Kind == control.OrderStart:
			b.startAttempt(m, o.Attempt)
		case o.Kind == control.OrderKill && a == nil:
			b.reportNeverStarted(m, o.Attempt)
		case a == nil || a.ended: // what became of it has been reported
		case o.Kind == control.OrderKill:
			b.endAttempt(a, control.AttemptExited{Attempt: a.id})
		case a.stopped.depth > 0:
			a.stopped.orders = append(a.stopped.orders, o)
		case a.preempting:
		case o.Kind == control.OrderPreempt:
			b.beginPreemption(a, o.Mode == preempt.Split)
		case o.Kind == control.OrderSuspend:
			b.suspend(a)
		case o.Kind == control.OrderResume:
			b.resume(a)
		}
	})
}

// reportNeverStarted tells of an attempt that never began, since it was to end before.
func (b *body) reportNeverStarted(m *machine, id cluster.AttemptID) {
	if _, _, known, ok := b.view.Attempt(id); ok && known.OnMachine() {
		b.report(m, control.AttemptExited{Attempt: id})
	}
}

// report has the master hear something from a machine, unless the machine is
// lost before it has said it. What nobody hears it says again when it attaches.
func (b *body) report(m *machine, ev control.Event) {
	instance := m.instance
	b.queue.plan(b.nextHeartbeat(m, b.now)+b.cfg.Latency, func() {
		if m.silentSince == 0 && m.instance == instance && b.hasLeader() {
			b.enqueue(ev)
		}
	})
}

// nextHeartbeat is when a machine says what it has to say from a time on.
func (b *body) nextHeartbeat(m *machine, at int64) int64 {
	beat := b.cfg.Heartbeat
	if beat == 0 {
		return at
	}
	return at + (m.heartbeatOffset-at%beat+beat)%beat
}
