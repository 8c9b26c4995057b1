package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/wire"
)

// ErrNameTaken marks a tasknode whose name another one has that is attached.
var ErrNameTaken = errors.New("jobmaster: name of another tasknode")

// tasknodeRecord is what the master knows of a tasknode beside the state.
type tasknodeRecord struct {
	attachment   *Attachment // nil while there is none
	seenThisTerm bool        // there was one under this lead
	lastSeen     int64       // last sign of life, ms since the epoch
	lastProbe    int64       // for a sign of life, by seek; ms since the epoch
	skew         int64       // ms that its clock is ahead of ours
	heartbeat    *wire.Report_Heartbeat
	expiring     bool  // its end is on its way through the log
	retainUntil  int64 // while it is lost: not to be forgotten before, ms since the epoch
}

// Attachment is a tasknode's connection to the master that leads.
type Attachment struct {
	master         *Master
	lead           *lead
	machine        string
	instance       string
	retained       []cluster.AttemptID // finished attempts whose segments it has, ascending
	addressChanged bool                // it is reached at another address than before
	send           func(*wire.Order)
	end            func(error)
}

type attachRequest struct {
	attachment *Attachment
	hello      *wire.Report_Joined
	name       string
	answer     chan<- error
}

// Attach takes a tasknode in. hello is its Joined report. send is called with
// orders and does not wait; end is called once when the master wants the
// attachment to end, with the cause.
//
// Errors are ErrNotLeader, ErrStopped, or wrap ErrNameTaken.
func (m *Master) Attach(ctx context.Context, hello *wire.Report, send func(*wire.Order), end func(error)) (*Attachment, error) {
	joined := hello.GetJoined()
	if joined == nil || hello.Machine == "" {
		return nil, errors.New("jobmaster: the first report of a tasknode does not join")
	}
	a := &Attachment{master: m, machine: hello.Machine, instance: joined.Instance, send: send, end: end}
	answer := make(chan error, 1)
	refused, err := call(ctx, m, &attachRequest{a, joined, hello.Machine, answer}, answer)
	if err := errors.Join(refused, err); err != nil {
		return nil, err
	}
	return a, nil
}

func (q *attachRequest) refuse(err error) { q.answer <- err }

func (q *attachRequest) handle(m *Master) {
	n := m.tasknode(q.name)
	if old := n.attachment; old != nil && old.instance != q.attachment.instance {
		q.answer <- fmt.Errorf("%w: %q is attached already; give this tasknode another --name", ErrNameTaken, q.name)
		return
	}
	n.detach(errors.New("the tasknode is attached anew"))
	q.attachment.lead = m.lead
	n.attachment, n.seenThisTerm, n.lastSeen, n.skew, n.expiring = q.attachment, true, m.now(), 0, false
	if q.hello.Clock != 0 {
		n.skew = q.hello.Clock - m.now()
	}
	m.endStale(q)
	m.requestProgressOf(q)
	m.join(q.attachment, q.hello)
	q.answer <- nil
}

// join makes a machine of a tasknode, or tells anew what it is like. Only one
// that was lost or started again has to say what it holds.
func (m *Master) join(a *Attachment, hello *wire.Report_Joined) {
	c := cluster.JoinMachine{
		Name: a.machine, Instance: hello.Instance, Address: hello.Address, HTTP: hello.Http, Rack: hello.Rack,
		Hosts: hello.Hosts, Slots: [2]int{int(hello.MapSlots), int(hello.ReduceSlots)},
	}
	a.retained, a.addressChanged = m.retainedBy(a.machine, hello.Held), false
	if before := m.view.Machine(a.machine); before != nil {
		a.addressChanged = before.Address != hello.Address
		if before.Lost || before.Instance != hello.Instance {
			c.Retained = a.retained
		}
	}
	m.request(c)
}

// endStale ends what the tasknode should not be doing any more. What it should be
// doing, it hears once it has joined.
func (m *Master) endStale(q *attachRequest) {
	for _, name := range q.hello.Attempts {
		id, err := cluster.ParseAttemptID(name)
		_, _, a, known := m.view.Attempt(id)
		if err != nil || !known || !a.OnMachine() || a.Machine != q.name {
			q.attachment.send(killOrder(name, "the job goes on without it"))
		}
	}
	for _, name := range q.hello.Jobs {
		id, err := cluster.ParseJobID(name)
		if j := m.view.Job(id); err != nil || j == nil || j.State.Final() {
			q.attachment.send(removeJobOrder(name))
		}
	}
}

// requestProgressOf asks a tasknode on which attempts run how far they are: what they have
// fetched they tell of their own accord once only, and that may have been lost.
func (m *Master) requestProgressOf(q *attachRequest) {
	machine := m.view.Machine(q.name)
	if machine != nil && len(machine.Attempts) > 0 {
		q.attachment.send(progressOrder())
	}
}

func killOrder(attempt, cause string) *wire.Order {
	return &wire.Order{Order: &wire.Order_Kill{Kill: &wire.Order_KillAttempt{AttemptId: attempt, Cause: cause}}}
}

func removeJobOrder(job string) *wire.Order {
	return &wire.Order{Order: &wire.Order_RemoveJob_{RemoveJob: &wire.Order_RemoveJob{JobId: job}}}
}

// tasknode is the entry of a tasknode, made when it is first asked for.
func (m *Master) tasknode(name string) *tasknodeRecord {
	n := m.tasknodes[name]
	if n == nil {
		n = new(tasknodeRecord)
		m.tasknodes[name] = n
	}
	return n
}

// machineChanged tells the brain of a machine that has joined and listens.
func (m *Master) machineChanged(name string) {
	machine, n := m.view.Machine(name), m.tasknode(name)
	if machine == nil || machine.Lost {
		m.unsubscribe(name)
		m.tasknodeLost(name, n)
		m.progressWanted = true
		return
	}
	if a := n.attachment; a != nil && a.instance == machine.Instance {
		m.unsubscribe(name)
		m.useRetained(a)
		m.events = append(m.events, control.MachineConnected{Name: name})
		m.reviewTasknodes()
	}
}

type detachRequest struct{ attachment *Attachment }

// Detach says that the connection is gone.
func (a *Attachment) Detach() { a.master.inbox.Put(&detachRequest{a}) }

func (q *detachRequest) refuse(error) {}

func (q *detachRequest) handle(m *Master) {
	if n := m.tasknodes[q.attachment.machine]; n != nil && n.attachment == q.attachment {
		n.attachment = nil
		m.probe(q.attachment.machine)
	}
}

func (n *tasknodeRecord) detach(cause error) {
	if n.attachment != nil {
		n.attachment.end(cause)
		n.attachment = nil
	}
}

// deliver sends an order to a machine that is attached, and has joined as what it is
// now: orders for a tasknode that was there before it was started anew are none of its
// business. One that is not hears what it needs when it comes back.
func (m *Master) deliver(machine string, o *wire.Order) {
	n, known := m.tasknodes[machine], m.view.Machine(machine)
	if n != nil && n.attachment != nil && known != nil && n.attachment.instance == known.Instance {
		n.attachment.send(o)
	}
}

// acknowledge says that what became of an attempt is in the log.
func (m *Master) acknowledge(id cluster.AttemptID) {
	_, _, a, _ := m.view.Attempt(id)
	m.deliver(a.Machine, acknowledgeOrder(id.String()))
}

func acknowledgeOrder(attempt string) *wire.Order {
	return &wire.Order{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: attempt}}}
}

// reviewTasknodes gives up tasknodes that have been silent for too long, and finds
// when to look again. Signs of life only move that away. Those that were given up
// long ago it has forgotten.
func (m *Master) reviewTasknodes() {
	m.reviewAt = 0
	expiry := m.cfg.NodeExpiry.Milliseconds()
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
			m.cfg.Logger.Warn("tasknode is silent and given up", "tasknode", machine.Name, "expiry", m.cfg.NodeExpiry)
			n.expiring = true
			n.detach(errors.New("the tasknode was silent for too long"))
			m.request(cluster.ExpireMachine{Name: machine.Name, Epoch: machine.Epoch})
			continue
		}
		m.scheduleReview(n.lastSeen + expiry)
		m.probeUnseen(machine, n)
	}
}

// Tasknodes describes every tasknode, by name; those that are lost only when all is
// set.
func (m *Master) Tasknodes(ctx context.Context, all bool) ([]*wire.Node, error) {
	return query(ctx, m, func() ([]*wire.Node, error) {
		var out []*wire.Node
		for machine := range m.view.Machines() {
			if all || !machine.Lost {
				out = append(out, m.tasknodeStatus(machine))
			}
		}
		slices.SortFunc(out, func(a, b *wire.Node) int { return strings.Compare(a.Name, b.Name) })
		return out, nil
	})
}

func (m *Master) tasknodeStatus(machine *cluster.Machine) *wire.Node {
	n := m.tasknode(machine.Name)
	s := &wire.Node{
		Name: machine.Name, State: m.tasknodeState(machine, n), Address: machine.Address, Http: machine.HTTP, Rack: machine.Rack, Hosts: machine.Hosts,
		MapSlots: int32(machine.Offered[cluster.MapSlot]), ReduceSlots: int32(machine.Offered[cluster.ReduceSlot]),
		MapsRunning: int32(machine.Used[cluster.MapSlot]), ReducesRunning: int32(machine.Used[cluster.ReduceSlot]),
		LastHeartbeat: n.lastSeen, Directories: n.heartbeat.GetDirectories(), Load: n.heartbeat.GetLoad(), ClockSkew: n.skew,
		Draining: machine.Draining, Lost: machine.Lost,
	}
	for _, a := range machine.Attempts {
		s.Attempts = append(s.Attempts, a.ID.String())
	}
	if machine.Excluded {
		outputs, checkpoints := m.neededData(machine)
		for _, t := range outputs {
			s.Outputs = append(s.Outputs, t.Winner.ID.String())
		}
		for _, id := range checkpoints {
			s.Checkpoints = append(s.Checkpoints, id.String())
		}
	}
	return s
}

// tasknodeState is the state of a tasknode in Hadoop's words, and SILENT for one
// whose connection is gone and that is not given up yet.
func (m *Master) tasknodeState(machine *cluster.Machine, n *tasknodeRecord) string {
	switch {
	case machine.Excluded && !machine.Lost && m.hasWork(machine):
		return "DECOMMISSIONING"
	case machine.Excluded:
		return "DECOMMISSIONED"
	case machine.Lost:
		return "LOST"
	case n.attachment == nil:
		return "SILENT"
	}
	return "RUNNING"
}
