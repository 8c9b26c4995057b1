package sim

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/preempt"
)

// machine is a machine of the cluster, with its tasknode.
//
//	up ── failMachine ─► dead ── back ─► up, next instance
//	 │                    └─ silent for Expiry ─► lost in the state
//	 └── partition ─► silent: tasks run on ── end ─► attaches again
type machine struct {
	number        int
	name          string
	rack          string
	dead          bool
	running       []*attempt // in order of start
	instance      int        // number of starts of its tasknode
	knownInstance int        // the instance that the state has
	partitions    int        // number of network partitions that it is in
	silentSince   int64      // since when it is dead or partitioned; 0 if neither
	emptiedAt     int64      // since when its disks hold data

	diskBusyUntil int64        // when its disk has done all reads and writes so far
	leavingAt     [2][]int64   // by kind of slot, ascending: when slots of suspended attempts become free
	pendingLoss   *loss        // cost of its failure until it expires, else nil
	lastFailure   *LostMachine // nil for none
	reportOffset  int64        // ms until it first sends reports
}

// MachineName returns the name of a machine in the state, in decisions, tables and pictures:
// n0001 for number 0.
func MachineName(number int) string { return fmt.Sprintf("n%04d", number+1) }

// slotsOf returns the number of slots of a kind on each machine.
func (b *body) slotsOf(kind cluster.Slot) int {
	return cluster.Slots{b.cfg.MapSlots, b.cfg.ReduceSlots}[kind]
}

// slotFreeAt returns when a slot that the master has assigned is free. Suspended attempts may
// still occupy theirs while their memory is written. Each call takes one such slot, so
// callers that ask in turn get different times.
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

// reserveDisk returns when the disk will have read or written the memory of a task, starting
// not before from. Transfers on a disk run one after the other.
func (b *body) reserveDisk(m *machine, from, rate int64) int64 {
	m.diskBusyUntil = max(m.diskBusyUntil, from) + scale(b.cfg.Costs.TaskBytes, 1000, rate)
	return m.diskBusyUntil
}

// startTasknode starts the tasknode of a machine.
func (b *body) startTasknode(m *machine) {
	m.instance++
	m.partitions, m.silentSince = 0, 0
	b.attach(m)
}

// instanceName distinguishes the starts of a tasknode.
func (m *machine) instanceName() string { return string(rune('a' + m.instance%26)) }

// attach makes a tasknode join the master that leads. It names the outputs that it still
// has, so that they do not run again.
func (b *body) attach(m *machine) {
	c := cluster.JoinMachine{
		Name: m.name, Instance: m.instanceName(), Rack: m.rack, Hosts: []string{m.name},
		Slots: cluster.Slots{b.cfg.MapSlots, b.cfg.ReduceSlots}, MemoryMB: b.cfg.MemoryMB,
	}
	if known := b.view.Machine(m.name); known != nil && (known.Lost || known.Instance != c.Instance) {
		c.Retained = b.retained(m)
	}
	b.request(c)
}

// failMachine ends a machine and everything that runs there. The machine expires after a
// time of silence, or returns before its expiry, with its disks or empty. Its attempts end
// without a report; the master learns of that when the machine expires or its next instance
// joins.
func (b *body) failMachine(m *machine, back int64, keeps bool) {
	if m.dead {
		return
	}
	m.dead = true
	b.markSilent(m)
	record := b.noteFailure(m)
	b.endAttemptsOn(m)
	m.leavingAt, m.diskBusyUntil = [2][]int64{}, 0
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

// deliver carries an order to its machine, unless the tasknode is restarted before.
//
// Orders are derived from the state and may be repeated, so each order is checked for whether
// it still applies. Orders for an earlier instance, or for a silent machine, are dropped: they
// are sent again when the machine attaches.
func (b *body) deliver(o control.Order) {
	m := b.byName[o.Machine]
	instance := m.instance
	if m.knownInstance != instance { // meant for an earlier instance
		return
	}
	b.queue.plan(b.now+b.cfg.Latency, func() {
		a := b.attempts[o.Attempt]
		switch {
		case m.silentSince != 0 || m.instance != instance: // it gets its orders when it attaches
		case o.Kind == control.OrderStart:
			b.startAttempt(m, o.Attempt)
		case o.Kind == control.OrderKill && a == nil:
			b.reportNeverStarted(m, o.Attempt)
		case a == nil || a.ended: // its end has been reported
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

// reportNeverStarted answers an order to kill an attempt that never started.
func (b *body) reportNeverStarted(m *machine, id cluster.AttemptID) {
	if _, _, known, ok := b.view.Attempt(id); ok && known.OnMachine() {
		b.report(m, control.AttemptExited{Attempt: id})
	}
}

// report sends an event from a machine to the master, unless the machine is lost before. A
// tasknode repeats what no master has received when it attaches. It arrives at the next
// report of the machine, Latency later.
func (b *body) report(m *machine, ev control.Event) {
	instance := m.instance
	b.queue.plan(b.nextReport(m, b.now)+b.cfg.Latency, func() {
		if m.silentSince == 0 && m.instance == instance && b.hasLeader() {
			b.enqueue(ev)
		}
	})
}

// nextReport returns the first moment, from a time on, at which a machine sends its reports.
func (b *body) nextReport(m *machine, at int64) int64 {
	every := b.cfg.ReportInterval
	if every == 0 {
		return at
	}
	return at + (m.reportOffset-at%every+every)%every
}
