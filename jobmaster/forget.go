package jobmaster

import (
	"time"

	"github.com/hammr/hammr/cluster"
)

// On machines that are rented by the hour every tasknode has a name of its own,
// so what is known of one that is lost is forgotten some time.

// reviewBy looks at the tasknodes again at that time, if not earlier.
func (m *Master) reviewBy(at int64) {
	if m.review == 0 || at < m.review {
		m.review = at
	}
}

// reviewLost has a tasknode forgotten that was given up long ago. Referred is
// found out when it is first needed: it takes a look at every task. So a machine
// that is referred to is looked at again only after a part of the time that it is
// remembered.
func (m *Master) reviewLost(machine *cluster.Machine, n *node, referred *map[string]bool) {
	remembered := m.cfg.NodeForget.Milliseconds()
	if remembered == 0 || machine.Excluded {
		return
	}
	due := max(machine.LostAt+remembered, n.kept)
	if m.now() < due {
		m.reviewBy(due)
		return
	}
	n.kept = m.now() + max(remembered/16, time.Second.Milliseconds())
	m.reviewBy(n.kept)
	if *referred == nil {
		*referred = m.view.Referred()
	}
	if n.attachment == nil && !(*referred)[machine.Name] {
		m.request(cluster.ForgetMachine{Name: machine.Name, Epoch: machine.Epoch})
	}
}

// nodeLost takes note that a tasknode is lost, or forgotten.
func (m *Master) nodeLost(name string, n *node) {
	if m.view.Machine(name) != nil {
		m.reviewBy(m.now())
		return
	}
	m.cfg.Logger.Info("tasknode is forgotten", "tasknode", name)
	if n.attachment == nil {
		delete(m.nodes, name)
	}
}

// addressOf is where a tasknode is reached, "" when it is forgotten.
func (m *Master) addressOf(name string) string {
	if machine := m.view.Machine(name); machine != nil {
		return machine.Address
	}
	return ""
}
