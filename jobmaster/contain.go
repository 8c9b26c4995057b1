package jobmaster

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/idle"
)

// A panic is a mistake in the program. The functions of this file let it cost one job instead
// of all masters:
//
//	Apply of a command           cluster.State.ApplyContained, the same on every master
//	Step of the controller       its job is skipped and fails by FailJob; fifo replaces the policy
//	the work for one job         the job fails by FailJob
//	a request or a report        it is answered with an error; a report's job fails by FailJob
//
// Each panic is logged with its stack.

// errPanic answers a request whose processing has panicked.
var errPanic = errors.New("jobmaster: internal error; the log of the leader has its stack: please report it")

// maxStepPanics is how often a step is tried again. Each try skips another job or policy.
const maxStepPanics = 8

// applyEntry applies an entry to the state. If that panics, the job that the entry names has
// failed; the error then wraps cluster.ErrInternal, and the delta is valid.
func (m *Master) applyEntry(e cluster.Entry) (cluster.Delta, error) {
	return m.state.ApplyContained(e, func(v any) {
		m.logPanic("panic while a command was applied", v, "command", fmt.Sprintf("%T", e.Command))
	})
}

// logPanic logs a panic with its stack. A deferred function calls it.
func (m *Master) logPanic(message string, value any, attributes ...any) {
	attributes = append(attributes, "panic", value, "stack", string(debug.Stack()))
	m.cfg.Logger.Error(message, attributes...)
}

// contain calls do, which concerns one job. If do panics, the job fails. The zero id is no job.
func (m *Master) contain(job cluster.JobID, do func()) {
	defer func() {
		if v := recover(); v != nil {
			m.logPanic("panic while a job was processed", v, "job", job)
			m.failJob(job)
		}
	}()
	do()
}

// failJob requests the end of a job whose processing has panicked.
func (m *Master) failJob(id cluster.JobID) {
	if j := m.view.Job(id); m.lead != nil && j != nil && j.State < cluster.JobAborting {
		m.request(cluster.FailJob{Job: id, Cause: errPanic.Error()})
	}
}

// handleMessage handles a message. If that panics, its sender gets an error.
func (m *Master) handleMessage(msg message) {
	defer func() {
		if v := recover(); v != nil {
			m.logPanic("panic while a message was handled", v, "message", fmt.Sprintf("%T", msg))
			go msg.refuse(errPanic) // it may wait: perhaps the sender has its answer already
		}
	}()
	msg.handle(m)
}

// decide runs a step of the controller. If it panics, it is tried again without the job or the
// policy that it was processing.
func (m *Master) decide() control.Output {
	began := time.Now()
	defer func() { m.meters.decisions.Add(time.Since(began)) }()
	for range maxStepPanics {
		if out, ok := m.tryStep(); ok {
			return out
		}
	}
	return control.Output{Wake: m.now() + 1000}
}

// tryStep runs a step of the controller; ok is false if it has panicked.
func (m *Master) tryStep() (out control.Output, ok bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		fallback, name := m.nextFallback()
		suspect := m.brain.Recover(fallback)
		m.logPanic("panic in a scheduling step", v, "job", suspect.Job, "policy", suspect.Policy)
		if suspect.Policy {
			m.fallbacks++
			m.policyProblem = fmt.Sprintf("%s: policy %s has panicked: %v; 'hammr scheduler set %s' tries it again", name, m.view.Policy(), v, m.view.Policy())
		}
		m.failJob(suspect.Job)
	}()
	events := m.events
	m.events = nil
	return m.brain.Step(m.now(), events), true
}

// nextFallback returns the policy that replaces one that has panicked, and what it does: fifo, and one that
// starts nothing if fifo panics too. The policy of the cluster is tried again in the next lead,
// or when it is set.
func (m *Master) nextFallback() (p sched.Policy, does string) {
	if m.fallbacks > 0 {
		return idle.Policy{}, "no task starts"
	}
	return fifo.New(sched.DefaultPlacement()), "fifo decides"
}
