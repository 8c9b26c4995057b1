package jobmaster

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// tasknodeRecord is what the leader knows about a tasknode in addition to the state.
//
//	            attach                 connection breaks
//	(new) ──────────────► attached ─────────────────────► silent ◄─┐
//	                         ▲                              │      │ a probe is answered:
//	                         │ attach                       ├──────┘ lastSeen = now
//	                         ├──────────────────────────────┤
//	                         │                              │ TasknodeExpiry after lastSeen
//	                         │ attach: joins again          ▼
//	                         └──────────────────────────── lost
//	                                                        │ TasknodeForget later, if no job
//	                                                        ▼ refers to the machine
//	                                                    forgotten
//
// A new leader starts with every machine silent. For adoptionWindow it probes those that
// have not attached to it: their silence is due to the old leader.
type tasknodeRecord struct {
	attachment   *Attachment // nil while silent or lost
	seenThisTerm bool        // it has attached to this leader
	lastSeen     int64       // last report or answered probe, ms since the epoch
	lastProbe    int64       // last probe by probeUnseen, ms since the epoch
	skew         int64       // ms that its clock is ahead of ours
	heartbeat    *wire.Report_Heartbeat
	expiring     bool  // the command that expires it is on its way through the log
	retainUntil  int64 // while lost: when to try to forget it next, ms since the epoch
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

// reviewTasknodes expires tasknodes that were silent for TasknodeExpiry, forgets those that
// were lost long ago, and schedules the next review. Reports only postpone an expiry, so
// they need no review.
func (m *Master) reviewTasknodes() {
	m.reviewAt = 0
	expiry := m.cfg.TasknodeExpiry.Milliseconds()
	if expiry == 0 {
		return
	}
	var referred map[string]bool
	for machine := range m.view.Machines() {
		n := m.tasknode(machine.Name)
		if machine.Lost {
			m.reviewLost(machine, n, &referred)
			continue
		}
		if n.expiring {
			continue
		}
		if m.now() >= n.lastSeen+expiry {
			m.cfg.Logger.Warn("tasknode expired", "tasknode", machine.Name, "expiry", m.cfg.TasknodeExpiry)
			n.expiring = true
			n.detach(errors.New("the tasknode was silent for too long"))
			m.request(cluster.ExpireMachine{Name: machine.Name, Epoch: machine.Epoch})
			continue
		}
		m.scheduleReview(n.lastSeen + expiry)
		m.probeUnseen(machine, n)
	}
}

// scheduleReview has the loop review the tasknodes at a time, in ms since the epoch,
// unless it does so earlier anyway. One time for all tasknodes is enough: each review
// schedules the next.
func (m *Master) scheduleReview(at int64) {
	if m.reviewAt == 0 || at < m.reviewAt {
		m.reviewAt = at
	}
}

// reviewLost requests that a tasknode which was lost long ago is forgotten. referred is
// computed when it is first needed, because that visits every task. For the same reason
// a machine that is referred to is only tried again after a sixteenth of TasknodeForget.
//
// On machines that are rented by the hour every tasknode has a new name, so the state
// would grow for ever without this.
func (m *Master) reviewLost(machine *cluster.Machine, n *tasknodeRecord, referred *map[string]bool) {
	remembered := m.cfg.TasknodeForget.Milliseconds()
	if remembered == 0 || machine.Excluded {
		return
	}
	due := max(machine.LostAt+remembered, n.retainUntil)
	if m.now() < due {
		m.scheduleReview(due)
		return
	}
	n.retainUntil = m.now() + max(remembered/16, time.Second.Milliseconds())
	m.scheduleReview(n.retainUntil)
	if *referred == nil {
		*referred = m.view.ReferencedMachines()
	}
	if n.attachment == nil && !(*referred)[machine.Name] {
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

// addressOf returns the address of a tasknode, "" if it is forgotten.
func (m *Master) addressOf(name string) string {
	if machine := m.view.Machine(name); machine != nil {
		return machine.Address
	}
	return ""
}

// probe checks at once whether a tasknode is alive whose connection broke. An answer
// gives it another TasknodeExpiry to attach. No answer only is logged: the daemon may be
// restarting with everything on its disks.
//
// The probe runs in a goroutine, at most TasknodeExpiry long, and posts its result to
// the loop.
func (m *Master) probe(name string) {
	machine := m.view.Machine(name)
	if m.cfg.Probe == nil || m.cfg.TasknodeExpiry == 0 || machine == nil || machine.Lost || machine.HTTP == "" {
		return
	}
	l, epoch, page := m.lead, machine.Epoch, machine.HTTP
	m.workers.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, m.cfg.TasknodeExpiry)
		defer cancel()
		err := m.cfg.Probe(ctx, page)
		m.postUnder(l, func() { m.probed(name, epoch, err) })
	})
}

// probed uses the result of a probe, nil if the tasknode is alive, unless the tasknode was
// lost or has attached meanwhile. epoch is the epoch of its machine when the probe was sent.
func (m *Master) probed(name string, epoch int, err error) {
	machine, n := m.view.Machine(name), m.tasknode(name)
	switch {
	case machine == nil || machine.Lost || machine.Epoch != epoch || n.attachment != nil:
		return
	case err != nil:
		m.cfg.Logger.Warn("tasknode does not answer a probe", "tasknode", name, "error", err, "expiry", m.cfg.TasknodeExpiry)
		return
	}
	n.lastSeen = m.now()
	if n.seenThisTerm {
		m.cfg.Logger.Info("tasknode without a connection answers a probe", "tasknode", name)
	}
}

// adoptionWindow is how long a new leader probes tasknodes that have not attached to it,
// in ms. A tasknode whose leader is suspended or cut off notices that after seconds.
const adoptionWindow = 15_000

// probeUnseen probes a tasknode that has not attached to this leader, three times in
// each TasknodeExpiry.
func (m *Master) probeUnseen(machine *cluster.Machine, n *tasknodeRecord) {
	if n.seenThisTerm || m.cfg.Probe == nil || machine.HTTP == "" || m.now() >= m.lead.since+adoptionWindow {
		return
	}
	period := max(1, m.cfg.TasknodeExpiry.Milliseconds()/3)
	if m.now() >= n.lastProbe+period {
		n.lastProbe = m.now()
		m.probe(machine.Name)
	}
	m.scheduleReview(n.lastProbe + period)
}

// requestProgress requests the progress of all attempts after a machine was lost. Which
// attempts are preempted for the lost work depends on it, and the next heartbeat would
// bring it too late.
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
