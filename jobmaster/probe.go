package jobmaster

import (
	"context"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// probe asks a tasknode for a sign of life, at once, whose connection has broken.
// That is a hint and no verdict: what answers has until NodeExpiry later to come
// back, and what does not may be started again with all it had on its disks.
func (m *Master) probe(name string) {
	machine := m.view.Machine(name)
	if m.cfg.Probe == nil || m.cfg.NodeExpiry == 0 || machine == nil || machine.Lost || machine.HTTP == "" {
		return
	}
	p := &probeResult{lead: m.lead, machine: name, epoch: machine.Epoch}
	page := machine.HTTP
	m.workers.Go(func() {
		ctx, cancel := context.WithTimeout(p.lead.ctx, m.cfg.NodeExpiry)
		defer cancel()
		p.err = m.cfg.Probe(ctx, page)
		m.inbox.Put(p)
	})
}

// probeResult is what came of a probe.
type probeResult struct {
	lead    *lead // under which it was asked
	machine string
	epoch   int
	err     error // why there is no sign of life; nil when there is one
}

func (p *probeResult) refuse(error) {}

func (p *probeResult) handle(m *Master) {
	machine := m.view.Machine(p.machine)
	if p.lead != m.lead || machine == nil || machine.Lost || machine.Epoch != p.epoch || m.tasknode(p.machine).attachment != nil {
		return
	}
	if p.err != nil {
		m.cfg.Logger.Warn("tasknode is gone, or cannot be reached", "tasknode", p.machine, "error", p.err, "expiry", m.cfg.NodeExpiry)
		return
	}
	n := m.tasknode(p.machine)
	n.lastSeen = m.now()
	if n.seenThisTerm {
		m.cfg.Logger.Info("tasknode has lost its connection, and answers", "tasknode", p.machine)
	}
}

// adoptionWindow is for how long a new leader takes the answers of tasknodes for signs of
// life that have not come to it yet, ms. One that was attached to a leader that stands
// still notices that after seconds.
const adoptionWindow = 15_000

// probeUnseen asks a tasknode that has not come to this leader yet for a sign of life, three
// times in an expiry: its silence is that of the leader before.
func (m *Master) probeUnseen(machine *cluster.Machine, n *tasknodeRecord) {
	if n.seenThisTerm || m.cfg.Probe == nil || machine.HTTP == "" || m.now() >= m.lead.since+adoptionWindow {
		return
	}
	period := max(1, m.cfg.NodeExpiry.Milliseconds()/3)
	if m.now() >= n.lastProbe+period {
		n.lastProbe = m.now()
		m.probe(machine.Name)
	}
	m.scheduleReview(n.lastProbe + period)
}

// requestProgress asks for the progress of all that runs, once a machine has been
// lost: which attempts make room for what was lost depends on it, and with the next
// heartbeats it would come late.
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

func progressOrder() *wire.Order {
	return &wire.Order{Order: &wire.Order_Probe_{Probe: new(wire.Order_Probe)}}
}
