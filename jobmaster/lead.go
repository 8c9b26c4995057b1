package jobmaster

import (
	"context"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// lead is what only the master that leads has. Nothing in it is lost with the
// lead: it follows from the state, or is told again.
type lead struct {
	ctx     context.Context // ends with the lead
	end     context.CancelFunc
	since   int64 // when it began, ms since the epoch
	brain   *control.Controller
	events  []control.Event // for the next step
	records map[cluster.JobID]*record
	waited  map[cluster.JobID]*record // those with waiters
	submits map[submitKey]chan<- submitted
	nodes   map[string]*node
	changes []pendingChange // that are on their way through the log
	written []cluster.JobID // whose history is written, oldest first
	wake    int64           // ms since the epoch when to step at the latest, 0 for never
	pools   following       // of Config.PoolFile
	mute    bool            // the log has heard that decisions cannot be written
	ask     bool            // a machine was lost: how far are those that are left?
	review  int64           // ms since the epoch when to look for silent tasknodes, 0 for never
}

// stepUp begins to lead. Everything that machines and jobs need to hear follows
// from the state.
func (m *Master) stepUp(ctx context.Context) {
	m.stepDown(ErrNotLeader)
	ctx, end := context.WithCancel(ctx)
	m.lead = &lead{
		ctx: ctx, end: end, since: m.now(),
		brain:   control.New(m.view, m.policy()),
		events:  []control.Event{control.Leading{}},
		records: make(map[cluster.JobID]*record),
		waited:  make(map[cluster.JobID]*record),
		submits: make(map[submitKey]chan<- submitted),
		nodes:   make(map[string]*node),
	}
	m.brain.Trace(m.cfg.Decisions != nil)
	for machine := range m.view.Machines() {
		if !machine.Lost {
			n := m.node(machine.Name)
			n.heard, n.asked = m.now(), m.now()
		}
	}
	for j := range m.view.Jobs() {
		if j.State.Final() {
			m.archive(j.ID)
		}
	}
	m.impose()
	m.reviewNodes()
	if m.cfg.Retention > 0 {
		m.workers.Go(func() { m.sweepEvery(ctx) })
	}
	if l := m.lead; m.cfg.PoolFile != nil {
		m.workers.Go(func() { m.followPools(ctx, l) })
	}
}

// impose makes the cluster's what this master is configured to.
func (m *Master) impose() {
	if p := m.cfg.PolicyName; p != "" && p != m.view.Policy() {
		m.request(cluster.SetPolicy{Name: p})
	}
	m.imposePools()
}

// stepDown stops leading: who waits is told to ask elsewhere.
func (m *Master) stepDown(cause error) {
	l := m.lead
	if l == nil {
		return
	}
	l.end()
	for _, answer := range l.submits {
		answer <- submitted{err: cause}
	}
	for _, c := range l.changes {
		c.answer <- cause
	}
	for _, r := range l.waited {
		for _, q := range r.waiters {
			q.refuse(cause)
		}
	}
	for _, n := range l.nodes {
		n.detach(cause)
	}
	m.lead = nil
}

// patience is how long the loop may sleep, at most wait.
func (m *Master) patience(wait time.Duration) time.Duration {
	for _, at := range []int64{m.wake, m.review} {
		if at != 0 {
			wait = min(wait, max(0, time.UnixMilli(at).Sub(m.clock.now())))
		}
	}
	for _, r := range m.waited {
		if r.stale {
			wait = min(wait, progressInterval)
		}
	}
	return wait
}

// step lets the brain decide, and does what it says.
func (m *Master) step() {
	if m.review != 0 && m.review <= m.now() {
		m.reviewNodes()
	}
	out := m.brain.Step(m.now(), m.events)
	m.events = nil
	m.wake = out.Wake
	m.tell(out.Decisions)
	m.askProgress()
	if len(out.Commands) > 0 {
		m.cfg.Log.Propose(out.Commands)
	}
	for _, o := range out.Orders {
		m.send(o)
	}
	for _, w := range out.Work {
		m.begin(w)
	}
	m.answerWaiters()
	m.answerChanges()
}

// follow keeps what stands beside the state up to date.
func (m *Master) follow(delta cluster.Delta) {
	for _, id := range delta.Jobs {
		r := m.record(id)
		r.touch()
		if m.view.Job(id).State.Final() {
			r.splits, r.outputs, r.progress = nil, outputLogs{}, nil
			m.archive(id)
		}
	}
	for _, id := range delta.Started {
		m.record(id.Task.Job).touch()
	}
	for _, id := range delta.Ended {
		r := m.record(id.Task.Job)
		delete(r.progress, id)
		delete(r.unheard, id)
		r.touch()
	}
	for _, id := range delta.Freed {
		m.acknowledge(id)
	}
	for _, id := range delta.Published {
		m.published(id)
	}
	for _, id := range delta.Revoked {
		m.revoked(id)
	}
	for _, id := range delta.Moved {
		m.moved(id)
	}
	for _, name := range delta.Machines {
		m.machineChanged(name)
	}
	if delta.Policy {
		m.imposeContent()
		m.events = append(m.events, control.PolicyChanged{Policy: m.policy()})
	}
	for _, id := range delta.Retired {
		delete(m.records, id)
	}
}

// policy makes the policy that the state names. SetPolicy has checked the name;
// a master of another version may still not know it.
func (m *Master) policy() sched.Policy {
	p, err := m.cfg.Policy(m.view.Policy(), m.policyConf())
	if err == nil {
		return p
	}
	m.cfg.Logger.Error("policy not known to this master: fifo takes its place", "policy", m.view.Policy(), "error", err)
	return fifo.New(sched.DefaultPlacement())
}

func (m *Master) policyConf() map[string]string {
	conf := make(map[string]string)
	for _, s := range m.view.PolicyConf() {
		conf[s.Name] = s.Value
	}
	return conf
}

// request asks for a command.
func (m *Master) request(c cluster.Command) {
	m.events = append(m.events, control.Requested{Command: c})
}
