package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// ErrNameTaken is wrapped by the error for a tasknode whose name is the name of another
// attached tasknode.
var ErrNameTaken = errors.New("jobmaster: tasknode name is taken")

// Attachment is the connection of a tasknode to the leader. It belongs to the lead under
// which it was made. It ends by Detach, by a change of leader, or by another Attach of the
// same tasknode. After its end, its reports are dropped.
type Attachment struct {
	master         *Master
	lead           *lead // set by the loop when it accepts the tasknode
	machine        string
	instance       string              // of the tasknode's process; differs after each restart
	retained       []cluster.AttemptID // finished attempts whose outputs the tasknode retains, ascending
	addressChanged bool                // the tasknode's address has changed
	send           func(*wire.Order)   // queues an order without waiting for the network
	end            func(error)         // ends the connection, with the cause; called at most once
	unhandled      chan struct{}       // tokens of its reports in the inbox
}

// Attach attaches a tasknode. hello is its Joined report. The master calls send with orders,
// and send must not wait. The master calls end once, with the cause, when it ends the
// attachment.
//
// The error is ErrNotLeader or ErrStopped, or wraps ErrNameTaken, or cluster.ErrRefused if the
// tasknode is too old for the jobs of the cluster.
func (m *Master) Attach(ctx context.Context, hello *wire.Report, send func(*wire.Order), end func(error)) (*Attachment, error) {
	joined := hello.GetJoined()
	if joined == nil || hello.Machine == "" {
		return nil, errors.New("jobmaster: the first report of a tasknode is not Joined")
	}
	a := &Attachment{master: m, machine: hello.Machine, instance: joined.Instance, send: send, end: end, unhandled: make(chan struct{}, maxReports)}
	return ask(ctx, m, func() (*Attachment, error) {
		if err := m.attach(a, joined); err != nil {
			return nil, err
		}
		return a, nil
	})
}

// attach replaces the attachment of a tasknode that connects again. It refuses a name that
// another attached instance has, because orders for one instance would reach the other, and a
// tasknode that is too old (version.go).
func (m *Master) attach(a *Attachment, hello *wire.Report_Joined) error {
	n := m.tasknode(a.machine)
	if old := n.attachment; old != nil && old.instance != a.instance {
		return fmt.Errorf("%w: %q is attached already; give this tasknode another --name", ErrNameTaken, a.machine)
	}
	if err := m.checkSupport(a.machine, int(hello.JobVersion)); err != nil {
		return err
	}
	n.detach(errors.New("the tasknode attached again"))
	a.lead, n.supports = m.lead, int(hello.JobVersion)
	n.attachment, n.seenThisTerm, n.lastSeen, n.skew, n.expiring = a, true, m.now(), 0, false
	if hello.Clock != 0 {
		n.skew = hello.Clock - m.now()
	}
	a.send(m.directoriesOrder())
	m.endStale(a, hello)
	// An attempt reports each fetched output only once unless it is asked again. It may have
	// sent that report to another leader.
	if machine := m.view.Machine(a.machine); machine != nil && len(machine.Attempts) > 0 {
		a.send(progressOrder())
	}
	m.join(a, hello)
	return nil
}

// directoriesOrder returns the order that begins a session.
func (m *Master) directoriesOrder() *wire.Order {
	return &wire.Order{Order: &wire.Order_Directories_{Directories: &wire.Order_Directories{
		Staging: m.cfg.StagingDir, Logs: m.cfg.LogDir, Restores: int32(m.view.Restores()), Masters: m.cfg.Masters(),
	}}}
}

// AnnounceMasters sends the present list of masters to all attached tasknodes, so that they find
// the leader when all masters that they were started with are gone. It does not wait.
func (m *Master) AnnounceMasters() {
	m.post(func() {
		for _, n := range m.tasknodes {
			if n.attachment != nil {
				n.attachment.send(m.directoriesOrder())
			}
		}
	})
}

// join requests that the state adds or updates the machine of a tasknode. Only a machine
// that was lost or restarted must list the outputs that it retains. For other machines the
// state has this list.
func (m *Master) join(a *Attachment, hello *wire.Report_Joined) {
	c := cluster.JoinMachine{
		Name: a.machine, Instance: hello.Instance, Address: hello.Address, HTTP: hello.Http, Rack: hello.Rack,
		Hosts: hello.Hosts, Slots: cluster.Slots{int(hello.MapSlots), int(hello.ReduceSlots)}, MemoryMB: hello.MemoryMb,
	}
	a.retained, a.addressChanged = m.retainedBy(a.machine, hello.Retained), false
	if before := m.view.Machine(a.machine); before != nil {
		a.addressChanged = before.Address != hello.Address
		if before.Lost || before.Instance != hello.Instance {
			c.Retained = a.retained
		}
	}
	m.requestJoin(m.tasknode(a.machine), c, hello.SlotsSet)
}

// endStale ends attempts and jobs that the tasknode should no longer have. The tasknode gets
// the orders for all other attempts after it has joined.
//
// A tasknode continues when a leader is lost. While it had no session, its jobs may have
// ended. Its attempts may have been replaced because it was silent for too long.
func (m *Master) endStale(a *Attachment, hello *wire.Report_Joined) {
	for _, name := range hello.Attempts {
		id, err := cluster.ParseAttemptID(name)
		_, _, attempt, known := m.view.Attempt(id)
		if err != nil || !known || !attempt.OnMachine() || attempt.Machine != a.machine {
			a.send(killOrder(name, "its job does not need it"))
		}
	}
	for _, name := range hello.Jobs {
		id, err := cluster.ParseJobID(name)
		if j := m.view.Job(id); err != nil || j == nil || j.State.Final() {
			a.send(removeJobOrder(name))
		}
	}
}

// machineChanged reacts to a change of a machine in the state. If the machine was lost, its
// attempts have lost their work. It then requests the progress of other attempts, to decide
// which of them to preempt. If the machine has joined and its tasknode is attached, the
// controller may give it orders.
//
// In both cases the tasknode gets the logs of outputs from their beginning when it
// subscribes again, because a restarted tasknode has none of them.
func (m *Master) machineChanged(name string) {
	machine, n := m.view.Machine(name), m.tasknode(name)
	if machine == nil || machine.Lost {
		m.unsubscribe(name)
		m.tasknodeLost(name, n)
		m.progressWanted = true
		return
	}
	if a := n.attachment; a != nil && a.instance == machine.Instance && !m.endTooOld(machine, n) {
		if n.slots != nil && n.slots.joined {
			n.endSlots(nil)
		}
		m.unsubscribe(name)
		a.send(admissionOrder(machine))
		m.useRetained(a)
		m.events = append(m.events, control.MachineConnected{Name: name})
		m.scheduleReview(m.now())
	}
}

// Detach ends the attachment because the connection is lost.
func (a *Attachment) Detach() {
	m := a.master
	m.post(func() {
		if n := m.tasknodes[a.machine]; n != nil && n.attachment == a {
			n.attachment = nil
			n.endSlots(errSlotsUnknown)
			m.probe(a.machine)
		}
	})
}

// detach ends the attachment of a tasknode, if it has one. The tasknode then searches for
// the leader again.
func (n *tasknodeRecord) detach(cause error) {
	if n.attachment != nil {
		n.attachment.end(cause)
		n.attachment = nil
	}
	n.endSlots(errSlotsUnknown)
}

// retainedBy returns the attempts whose outputs the tasknode reports and the state places on
// its machine, ascending.
func (m *Master) retainedBy(machine string, names []string) (retained []cluster.AttemptID) {
	for _, name := range names {
		id, err := cluster.ParseAttemptID(name)
		if _, _, a, known := m.view.Attempt(id); err == nil && known && a.DataMachine() == machine {
			retained = append(retained, id)
		}
	}
	slices.SortFunc(retained, cluster.AttemptID.Compare)
	return slices.Compact(retained)
}

// useRetained uses the outputs that a joining machine retains. Readers get the new address
// of these outputs. If outputs were lost with the machine, their reports are requested
// again.
func (m *Master) useRetained(a *Attachment) {
	var moved []cluster.AttemptID
	for _, id := range a.retained {
		j, t, attempt, known := m.view.Attempt(id)
		switch {
		case !known || j.State != cluster.JobRunning:
		case t.Winner == attempt && a.addressChanged:
			moved = append(moved, id)
		case attempt.Lost() && t.State < cluster.TaskSucceeded:
			a.send(&wire.Order{Order: &wire.Order_ResendReport_{ResendReport: &wire.Order_ResendReport{AttemptId: id.String()}}})
		}
	}
	m.outputsMoved(moved)
	a.addressChanged = false
}

// outputRestored requests that an output that was lost with its machine counts again.
func (m *Master) outputRestored(a *cluster.Attempt, d *taskproc.Finished) {
	m.request(cluster.RestoreOutput{
		Attempt: a.ID, Range: m.keepOutputs(a, d), Output: manifestOf(d), Counters: countersOf(d.Counters),
	})
}
