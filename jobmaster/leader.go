package jobmaster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// lead is the data that a master has only while it leads. It may be lost, because all of it
// follows from the state or is reported again.
//
//	becomeLeader ──► step, step, … ──► stepDown
//	     │             │                  ├─ ctx ends: work of jobs, sweeps and probes stop
//	     │             │                  ├─ waiting requests get ErrNotLeader
//	     │             │                  └─ attachments end: tasknodes look for the next leader
//	     │             └─ events in; commands to the log, orders to tasknodes, work to goroutines
//	     └─ control.Leading: the controller derives every order and all work from the state
//
// Each lead has its own lead value. The result of a goroutine names the lead that started it
// (postUnder), so that a result of an earlier lead is not used in the present lead.
type lead struct {
	ctx             context.Context // ends when the master stops leading
	cancel          context.CancelFunc
	since           int64               // ms since the epoch
	brain           *control.Controller // makes the decisions; each lead makes its own controller from the state
	events          []control.Event     // for the next step
	publisher       statsPublisher
	counts          Counts // what has happened in this lead
	starts          rackStarts
	records         map[cluster.JobID]*record
	watched         map[cluster.JobID]*record // records of jobs that have watchers
	submits         map[submitKey]chan<- submitted
	tasknodes       map[string]*tasknodeRecord
	changes         []pendingChange        // changes whose commands are on their way through the log
	unproposed      []control.Result       // commands of the batch in the log that propose has kept out of it
	archives        archives               // finished jobs, until they are retired
	wakeAt          int64                  // when the next step is due at the latest, ms since the epoch; 0 for never
	poolFile        poolFileState          // state of the pool file of the settings
	pools           []string               // declared pools: View.Pools after all commands that this lead has requested
	endPoolFile     context.CancelFunc     // ends the watch of the pool file; nil if there is none
	fallbacks       int                    // how often another policy has replaced one that panicked
	policyProblem   string                 // why another policy decides than the state names; "" if it does not
	decisionsFailed bool                   // a write to Config.Decisions failed and was logged
	outputsUnsent   map[cluster.JobID]bool // jobs with logs of outputs that have changed in this step
	progressWanted  bool                   // a machine was lost: ask the others for progress in the next step
	reviewAt        int64                  // when to review tasknodes, ms since the epoch; 0 for never
	watchers        int                    // watch requests that wait
	considered      considered             // what the policy would do, for explanations
	applied         int                    // entries applied in this lead
	waitsAt         int64                  // when waits were counted last, ms since the epoch; 0 for never
	waitsDue        int64                  // when waits are counted next, ms since the epoch; 0 until the loop has done something
	policyChange    policyRecord           // latest change of the policy that a user has asked for
	ranAt           int64                  // when the loop last checked for a stall, ms since the epoch
}

// becomeLeader starts to lead. Every order that tasknodes need follows from the state.
//
// If this master has led before, the state still has the places of splits, but the records of
// that lead are gone, and with them the splits. So the splits are loaded again.
//
// The silence of tasknodes counts from now, because they were connected to the old leader or
// to none. The histories of finished jobs that are not archived are written unless they
// exist, since the old leader may have been lost before it wrote them.
func (m *Master) becomeLeader(ctx context.Context) {
	m.stepDown(ErrNotLeader)
	m.state.Unload()
	ctx, end := context.WithCancel(ctx)
	policy, problem := m.policy()
	m.lead = &lead{
		ctx: ctx, cancel: end, since: m.now(), ranAt: m.now(),
		brain:     control.New(m.view, policy),
		starts:    make(rackStarts),
		events:    []control.Event{control.Leading{}},
		records:   make(map[cluster.JobID]*record),
		watched:   make(map[cluster.JobID]*record),
		submits:   make(map[submitKey]chan<- submitted),
		tasknodes: make(map[string]*tasknodeRecord),
		counts:    newCounts(),
		pools:     m.view.Pools(),

		policyProblem: problem, outputsUnsent: make(map[cluster.JobID]bool),
	}
	m.brain.AnticipateEnds()
	m.decisions.clear()
	m.trace(true)
	for machine := range m.view.Machines() {
		if !machine.Lost {
			n := m.tasknode(machine.Name)
			n.lastSeen, n.lastProbe = m.now(), m.now()
		}
	}
	m.archives = m.newArchives()
	m.notifyAgain()
	m.archiveNext()
	m.applyConfig()
	m.scheduleReview(m.now())
	if m.settings().Retention > 0 {
		m.workers.Go(func() { m.sweepEvery(ctx) })
	}
	if l := m.lead; m.cfg.CommonVersion != nil && m.view.Version() < cluster.FormatVersion {
		m.workers.Go(func() { m.raiseVersion(ctx, l) })
	}
	m.startPoolFile()
}

// applyConfig requests the limits, the policy and the pools of this master's configuration.
func (m *Master) applyConfig() {
	if m.cfg.Limits != m.view.Limits() {
		m.request(cluster.SetLimits{Limits: m.cfg.Limits})
	}
	switch p := m.cfg.PolicyName; {
	case p != "" && p != m.view.Policy():
		m.request(cluster.SetPolicy{Name: p})
	case p == "" && m.cfg.InitialPolicy != "" && m.view.IsNew():
		m.request(setPolicy(m.cfg.InitialPolicy, m.cfg.InitialConf))
	}
	m.applyPools()
}

// stepDown stops leading. It answers every waiting request with cause, so that its caller
// asks another master.
//
// A refused request may still take effect, because its command may already be in the log.
// Callers repeat the request with the next leader, and all requests are idempotent.
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
		c.answer <- result[struct{}]{err: cause}
	}
	for _, r := range l.watched {
		for _, q := range r.watchers {
			q.refuse(cause)
		}
	}
	for _, n := range l.tasknodes {
		n.endSlots(cause)
		n.detach(cause)
	}
	m.lead = nil
	m.historyProblem.Store(nil)
}

// sleepLimit returns how long the loop may sleep; the result is at most wait.
func (m *Master) sleepLimit(wait time.Duration) time.Duration {
	for _, at := range []int64{m.wakeAt, m.reviewAt, m.waitsDue} {
		if at != 0 {
			wait = min(wait, max(0, time.UnixMilli(at).Sub(m.clock.now())))
		}
	}
	for _, r := range m.watched {
		if r.stale {
			wait = min(wait, progressInterval)
		}
	}
	if period := m.stallLimit() / 2; period > 0 {
		wait = min(wait, period)
	}
	return wait
}

// step runs one step of the controller and carries out its output.
//
// It proposes commands before it sends orders and starts work. Orders and work follow only
// from commands that the log has committed before this step, never from the commands of this
// step.
func (m *Master) step() {
	m.reviewSilence()
	out := m.decide()
	m.wakeAt = out.Wake
	m.writeDecisions(out.Decisions)
	m.requestProgress()
	if len(out.Commands) > 0 {
		m.propose(out.Commands)
	}
	for _, o := range out.Orders {
		m.contain(o.Job, func() { m.sendOrder(o) })
	}
	m.sendOutputs()
	for _, w := range out.Work {
		m.contain(w.Job, func() { m.startWork(w) })
	}
	m.answerWatchers()
	m.answerChanges()
	m.countWaits()
}

// syncRecords updates the records beside the state after a command was applied.
//
// A delta names what the command has changed, so no search is needed: the cost depends on
// the size of the change and not on the size of the job.
func (m *Master) syncRecords(delta cluster.Delta) {
	for _, id := range delta.Jobs {
		m.contain(id, func() { m.jobChanged(id) })
	}
	for _, id := range delta.Started {
		m.record(id.Task.Job).stale = true
		m.contain(id.Task.Job, func() { m.startEndsWait(id) })
	}
	for _, id := range delta.Ended {
		r := m.record(id.Task.Job)
		r.setProgress(id, nil)
		delete(r.awaitingProgress, id)
		r.stale = true
	}
	for _, id := range delta.Freed {
		m.acknowledge(id)
	}
	for _, id := range delta.Published {
		m.contain(id.Task.Job, func() { m.outputPublished(id) })
	}
	m.outputsRevoked(delta.Revoked)
	m.outputsMoved(delta.Moved)
	for _, name := range delta.Machines {
		m.machineChanged(name)
	}
	if delta.Policy {
		m.applyPoolFile()
		m.fallbacks, m.considered.at = 0, 0
		policy, problem := m.policy()
		m.policyProblem, m.events = problem, append(m.events, control.PolicyChanged{Policy: policy})
	}
	for _, id := range delta.Archived {
		m.jobArchived(id)
	}
	for _, id := range delta.Retired {
		m.jobRetired(id)
	}
}

// jobChanged updates the record of a job whose state, priority or pool has changed.
func (m *Master) jobChanged(id cluster.JobID) {
	r := m.record(id)
	r.stale = true
	j := m.view.Job(id)
	if j.State.Final() {
		r.waits.job.end(j.FinishedAt)
	}
	m.countWaitsOf(j, r, m.now())
	if j.State.Final() {
		r.touch()
		m.keepInputs(r)
		r.splits, r.outputs, r.progress = nil, outputLogs{}, nil
		clear(r.fractions)
		m.archive(id)
	}
}

// policy makes the policy that the state names. SetPolicy has checked the name, but the program of this
// master may be another one, which has no such policy. Then fifo decides, and problem says why.
func (m *Master) policy() (p sched.Policy, problem string) {
	name := m.view.Policy()
	defer func() {
		if v := recover(); v != nil {
			m.logPanic("panic while a policy was made; using fifo", v, "policy", name)
			p, problem = fifo.New(sched.DefaultPlacement()), fmt.Sprintf("fifo decides: policy %s cannot be made: %v", name, v)
		}
	}()
	p, err := m.cfg.Policy(name, m.policyConf())
	if err == nil {
		return p, ""
	}
	const remedy = "restart the masters with a program that has the policy, or choose another with 'hammr scheduler set'"
	m.cfg.Logger.Error("policy unknown to this master, using fifo", "policy", name, "error", err, "remedy", remedy)
	return fifo.New(sched.DefaultPlacement()), fmt.Sprintf("fifo decides: the leader's program cannot make the policy: %v; %s", err, remedy)
}

// policyConf returns the settings of the policy as a map. The state keeps them as a sorted
// list, because a sorted list has only one encoding.
func (m *Master) policyConf() map[string]string {
	conf := make(map[string]string)
	for _, s := range m.view.PolicyConf() {
		conf[s.Name] = s.Value
	}
	return conf
}

// request submits a command to the controller, which proposes it together with its own
// commands.
func (m *Master) request(c cluster.Command) {
	m.events = append(m.events, control.Requested{Command: c})
}

// writeDecisions keeps scheduling decisions, and writes them to Config.Decisions. A write error does not
// stop the master; it is logged once while the master leads.
func (m *Master) writeDecisions(decisions []sched.Decision) {
	if len(decisions) == 0 {
		return
	}
	m.decisions.add(decisions, m.view.Policy())
	if m.cfg.Decisions == nil {
		return
	}
	var text []byte
	for _, d := range decisions {
		d.Policy = m.view.Policy()
		line, err := json.Marshal(d)
		if err != nil {
			m.cfg.Logger.Warn("cannot encode a scheduling decision", "decision", d, "error", err)
			continue
		}
		text = append(append(text, line...), '\n')
	}
	if _, err := m.cfg.Decisions.Write(text); err != nil && !m.decisionsFailed {
		m.decisionsFailed = true
		m.cfg.Logger.Warn("cannot write scheduling decisions", "error", err)
	}
}
