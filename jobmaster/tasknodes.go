package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// tasknodeRecord is what the leader knows about a tasknode in addition to the state.
//
//	            attach                 connection breaks
//	(new) ──────────────► attached ─────────────────────► silent ◄─┐
//	                         ▲                              │      │ a probe is answered:
//	                         │ attach                       ├──────┘ lastSeen = now
//	                         ├──────────────────────────────┤
//	                         │                              │ TasknodeExpiry after lastSeen, or
//	                         │ attach: joins again          ▼ its machine refuses connections
//	                         └──────────────────────────── lost
//	                                                        │ TasknodeForget later, if no job
//	                                                        ▼ refers to the machine
//	                                                    forgotten
//
// For a new leader every machine is silent at first. For adoptionWindow it probes the
// machines that have not attached to it, because they may still be attached to the old
// leader.
type tasknodeRecord struct {
	attachment   *Attachment // nil if silent or lost
	seenThisTerm bool        // the tasknode has attached to this leader
	supports     int         // newest cluster version that the tasknode supports; valid if seenThisTerm
	lastSeen     int64       // time of the last report or answered probe, ms since the epoch
	lastProbe    int64       // time of the last probe by probeUnseen, ms since the epoch
	skew         int64       // ms by which its clock is ahead of the master's clock
	heartbeat    *wire.Report_Heartbeat
	expiring     bool  // the command that expires the tasknode is on its way through the log
	retainUntil  int64 // if lost: when to try next to forget it, ms since the epoch

	slots *slotsRequest // of a user, while the tasknode carries it out; nil for none
}

// tasknode returns the record of a tasknode and makes it if needed.
func (m *Master) tasknode(name string) *tasknodeRecord {
	n := m.tasknodes[name]
	if n == nil {
		n = new(tasknodeRecord)
		m.tasknodes[name] = n
	}
	return n
}

// reviewTasknodes expires tasknodes that at time now (ms since the epoch) were silent for
// TasknodeExpiry, forgets tasknodes that were lost long ago, and schedules the next review. A
// report needs no review, because it only postpones an expiry.
func (m *Master) reviewTasknodes(now int64) {
	m.reviewAt = 0
	expiry := m.settings().TasknodeExpiry.Milliseconds()
	if expiry == 0 {
		return
	}
	for machine := range m.view.Machines() {
		n := m.tasknode(machine.Name)
		if machine.Lost {
			m.reviewLost(machine, n)
			continue
		}
		if n.expiring {
			continue
		}
		if now >= n.lastSeen+expiry {
			m.cfg.Logger.Warn("tasknode expired", "tasknode", machine.Name, "expiry", m.settings().TasknodeExpiry)
			m.expire(machine, n)
			continue
		}
		m.scheduleReview(n.lastSeen + expiry)
		m.probeUnseen(machine, n)
	}
}

// expire requests that a tasknode is lost.
func (m *Master) expire(machine *cluster.Machine, n *tasknodeRecord) {
	n.expiring = true
	n.detach(errors.New("the tasknode was silent for too long"))
	m.request(cluster.ExpireMachine{Name: machine.Name, Epoch: machine.Epoch})
}

// scheduleReview makes the loop review the tasknodes at the given time, in ms since the
// epoch, unless an earlier review is scheduled. One time for all tasknodes is enough,
// because each review schedules the next.
func (m *Master) scheduleReview(at int64) {
	if m.reviewAt == 0 || at < m.reviewAt {
		m.reviewAt = at
	}
}

// reviewLost requests that a tasknode that was lost long ago is forgotten. While a job refers
// to its machine, the next try is a sixteenth of TasknodeForget later.
//
// If machines are rented by the hour, every tasknode has a new name. Without this function
// the state would grow without limit.
func (m *Master) reviewLost(machine *cluster.Machine, n *tasknodeRecord) {
	remembered := m.settings().TasknodeForget.Milliseconds()
	if remembered == 0 || !machine.MayBeForgotten() {
		return
	}
	due := max(machine.LostAt+remembered, n.retainUntil)
	if m.now() < due {
		m.scheduleReview(due)
		return
	}
	n.retainUntil = m.now() + max(remembered/16, time.Second.Milliseconds())
	m.scheduleReview(n.retainUntil)
	if n.attachment == nil && !m.view.IsReferenced(machine) {
		m.request(cluster.ForgetMachine{Name: machine.Name, Epoch: machine.Epoch})
	}
}

// tasknodeLost records that a tasknode was lost or forgotten.
func (m *Master) tasknodeLost(name string, n *tasknodeRecord) {
	if m.view.Machine(name) != nil {
		m.scheduleReview(m.now())
		return
	}
	m.cfg.Logger.Info("tasknode forgotten", "tasknode", name)
	if n.attachment == nil {
		delete(m.tasknodes, name)
	}
}

// addressOf returns the address of a tasknode, "" if the tasknode is forgotten.
func (m *Master) addressOf(name string) string {
	if machine := m.view.Machine(name); machine != nil {
		return machine.Address
	}
	return ""
}

// probe checks at once whether a tasknode is alive, because its connection broke. An answer
// gives the tasknode another TasknodeExpiry to attach. A missing answer is only logged,
// because the network may be broken. If the machine refuses connections twice in a row, restartGrace
// apart, the tasknode is dead and expires at once.
//
// The probe runs in a goroutine for at most TasknodeExpiry, and posts its result to the
// loop.
func (m *Master) probe(name string) {
	machine := m.view.Machine(name)
	if m.cfg.Probe == nil || m.settings().TasknodeExpiry == 0 || machine == nil || machine.Lost || machine.HTTP == "" && machine.Address == "" {
		return
	}
	l, epoch, page, address := m.lead, machine.Epoch, machine.HTTP, machine.Address
	m.workers.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, m.settings().TasknodeExpiry)
		defer cancel()
		err := m.probeUntilCertain(ctx, page, address)
		m.postUnder(l, func() { m.probed(name, epoch, err) })
	})
}

// probeUntilCertain probes until the tasknode answers, or its machine refuses connections twice
// in a row, at most maxProbes times. A process that is about to end may still accept a
// connection, since the kernel closes its sockets one after the other.
func (m *Master) probeUntilCertain(ctx context.Context, page, address string) (err error) {
	dead := false
	for range maxProbes {
		err = m.cfg.Probe(ctx, page, address)
		if err == nil || dead && isDead(err) {
			return err
		}
		dead = isDead(err)
		if syncutil.Sleep(ctx, restartGrace) != nil {
			break
		}
	}
	if dead {
		return fmt.Errorf("refused a connection once: %v", err) // not isDead
	}
	return err
}

// maxProbes is how often a tasknode is probed after its connection broke.
const maxProbes = 6

// restartGrace is the time in which a supervisor may restart a tasknode that has died. The
// tasknode then attaches with the outputs that it retains, and they need not be written
// again.
const restartGrace = 500 * time.Millisecond

// isDead reports whether the result of a probe shows that the tasknode's process has ended:
// the kernel of its machine answers, and no process listens.
func isDead(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// probed uses the result of a probe; err is nil if the tasknode is alive. It ignores the
// result if the tasknode was lost or has attached in the meantime. epoch is the epoch of the
// machine when the probe was sent.
func (m *Master) probed(name string, epoch int, err error) {
	machine, n := m.view.Machine(name), m.tasknode(name)
	switch {
	case machine == nil || machine.Lost || machine.Epoch != epoch || n.attachment != nil || n.expiring:
		return
	case isDead(err):
		m.cfg.Logger.Warn("tasknode is dead: its machine refuses connections", "tasknode", name, "error", err)
		m.expire(machine, n)
		return
	case err != nil:
		m.cfg.Logger.Warn("tasknode does not answer a probe", "tasknode", name, "error", err, "expiry", m.settings().TasknodeExpiry)
		return
	}
	n.lastSeen = m.now()
	if n.seenThisTerm {
		m.cfg.Logger.Info("tasknode without a connection answers a probe", "tasknode", name)
	}
}

// adoptionWindow is how long a new leader probes tasknodes that have not attached to it, in
// ms. If the old leader is suspended or cut off, its tasknodes notice that only after
// several seconds.
const adoptionWindow = 15_000

// probeUnseen probes a tasknode that has not attached to this leader, three times in each
// TasknodeExpiry.
func (m *Master) probeUnseen(machine *cluster.Machine, n *tasknodeRecord) {
	if n.seenThisTerm || m.cfg.Probe == nil || m.now() >= m.lead.since+adoptionWindow {
		return
	}
	period := max(1, m.settings().TasknodeExpiry.Milliseconds()/3)
	if m.now() >= n.lastProbe+period {
		n.lastProbe = m.now()
		m.probe(machine.Name)
	}
	m.scheduleReview(n.lastProbe + period)
}

// requestProgress requests the progress of all attempts after a machine was lost. The
// controller needs it to select the attempts to preempt for the lost work. The next
// heartbeat would bring it too late.
func (m *Master) requestProgress() {
	if !m.progressWanted {
		return
	}
	m.progressWanted = false
	for _, n := range m.tasknodes {
		if n.attachment != nil {
			n.attachment.send(progressOrder())
		}
	}
}
