package jobmaster

import (
	"time"

	"github.com/hammr/hammr/cluster"
)

// On machines that are rented by the hour every tasknode has a name of its own,
// so what is known of one that is lost is forgotten some time.

// scheduleReview looks at the tasknodes again at that time, if not earlier.
func (m *Master) scheduleReview(at int64) {
	if m.reviewAt == 0 || at < m.reviewAt {
		m.reviewAt = at
	}
}

// reviewLost has a tasknode forgotten that was given up long ago. Referred is
// found out when it is first needed: it takes a look at every task. So a machine
// that is referred to is looked at again only after a part of the time that it is
// remembered.
func (m *Master) reviewLost(machine *cluster.Machine, n *tasknodeRecord, referred *map[string]bool) {
	remembered := m.cfg.NodeForget.Milliseconds()
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

// tasknodeLost takes note that a tasknode is lost, or forgotten.
func (m *Master) tasknodeLost(name string, n *tasknodeRecord) {
	if m.view.Machine(name) != nil {
		m.scheduleReview(m.now())
		return
	}
	m.cfg.Logger.Info("tasknode is forgotten", "tasknode", name)
	if n.attachment == nil {
		delete(m.tasknodes, name)
	}
}

// addressOf is where a tasknode is reached, "" when it is forgotten.
func (m *Master) addressOf(name string) string {
	if machine := m.view.Machine(name); machine != nil {
		return machine.Address
	}
	return ""
}
