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
	ctx             context.Context // ends with the lead
	cancel          context.CancelFunc
	since           int64 // when it began, ms since the epoch
	brain           *control.Controller
	events          []control.Event // for the next step
	records         map[cluster.JobID]*record
	watched         map[cluster.JobID]*record // those with waiters
	submits         map[submitKey]chan<- submitted
	tasknodes       map[string]*tasknodeRecord
	changes         []pendingChange // that are on their way through the log
	archivedJobs    []cluster.JobID // whose history is written, oldest first
	wakeAt          int64           // ms since the epoch when to step at the latest, 0 for never
	poolFile        poolFileState   // of Config.PoolFile
	decisionsFailed bool            // the log has heard that decisions cannot be written
	progressWanted  bool            // a machine was lost: how far are those that are left?
	reviewAt        int64           // ms since the epoch when to look for silent tasknodes, 0 for never
}

// becomeLeader begins to lead. Everything that machines and jobs need to hear follows
// from the state.
func (m *Master) becomeLeader(ctx context.Context) {
	m.stepDown(ErrNotLeader)
	ctx, end := context.WithCancel(ctx)
	m.lead = &lead{
		ctx: ctx, cancel: end, since: m.now(),
		brain:     control.New(m.view, m.policy()),
		events:    []control.Event{control.Leading{}},
		records:   make(map[cluster.JobID]*record),
		watched:   make(map[cluster.JobID]*record),
		submits:   make(map[submitKey]chan<- submitted),
		tasknodes: make(map[string]*tasknodeRecord),
	}
	m.brain.Trace(m.cfg.Decisions != nil)
	for machine := range m.view.Machines() {
		if !machine.Lost {
			n := m.tasknode(machine.Name)
			n.lastSeen, n.lastProbe = m.now(), m.now()
		}
	}
	for j := range m.view.Jobs() {
		if j.State.Final() {
			m.archive(j.ID)
		}
	}
	m.applyConfig()
	m.reviewTasknodes()
	if m.cfg.Retention > 0 {
		m.workers.Go(func() { m.sweepEvery(ctx) })
	}
	if l := m.lead; m.cfg.PoolFile != nil {
		m.workers.Go(func() { m.watchPoolFile(ctx, l) })
	}
}

// applyConfig makes the cluster's what this master is configured to.
func (m *Master) applyConfig() {
	if p := m.cfg.PolicyName; p != "" && p != m.view.Policy() {
		m.request(cluster.SetPolicy{Name: p})
	}
	m.applyPools()
}

// stepDown stops leading: who waits is told to ask elsewhere.
func (m *Master) stepDown(cause error) {
	l := m.lead
	if l == nil {
		return
	}
	l.cancel()
	for _, answer := range l.submits {
		answer <- submitted{err: cause}
	}
	for _, c := range l.changes {
		c.answer <- cause
	}
	for _, r := range l.watched {
		for _, q := range r.watchers {
			q.refuse(cause)
		}
	}
	for _, n := range l.tasknodes {
		n.detach(cause)
	}
	m.lead = nil
}

// sleepLimit is how long the loop may sleep, at most wait.
func (m *Master) sleepLimit(wait time.Duration) time.Duration {
	for _, at := range []int64{m.wakeAt, m.reviewAt} {
		if at != 0 {
			wait = min(wait, max(0, time.UnixMilli(at).Sub(m.clock.now())))
		}
	}
	for _, r := range m.watched {
		if r.stale {
			wait = min(wait, progressInterval)
		}
	}
	return wait
}

// step lets the brain decide, and does what it says.
func (m *Master) step() {
	if m.reviewAt != 0 && m.reviewAt <= m.now() {
		m.reviewTasknodes()
	}
	out := m.brain.Step(m.now(), m.events)
	m.events = nil
	m.wakeAt = out.Wake
	m.writeDecisions(out.Decisions)
	m.requestProgress()
	if len(out.Commands) > 0 {
		m.cfg.Log.Propose(out.Commands)
	}
	for _, o := range out.Orders {
		m.sendOrder(o)
	}
	for _, w := range out.Work {
		m.startWork(w)
	}
	m.answerWatchers()
	m.answerChanges()
}

// syncRecords keeps what stands beside the state up to date.
func (m *Master) syncRecords(delta cluster.Delta) {
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
		delete(r.awaitingProgress, id)
		r.touch()
	}
	for _, id := range delta.Freed {
		m.acknowledge(id)
	}
	for _, id := range delta.Published {
		m.outputPublished(id)
	}
	for _, id := range delta.Revoked {
		m.outputRevoked(id)
	}
	for _, id := range delta.Moved {
		m.outputMoved(id)
	}
	for _, name := range delta.Machines {
		m.machineChanged(name)
	}
	if delta.Policy {
		m.applyPoolFile()
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
