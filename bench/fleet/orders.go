package fleet

import (
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// execute executes an order, as tasknode.Daemon does.
func (m *machine) execute(o *wire.Order) {
	m.fleet.counts.orders.Add(1)
	now := time.Now()
	switch o := o.Order.(type) {
	case *wire.Order_Start:
		m.newAttempt(o.Start.Start)
	case *wire.Order_Kill:
		m.kill(o.Kill)
	case *wire.Order_Truncate:
		if a := m.attempts[o.Truncate.AttemptId]; a != nil {
			a.rangeEnd = o.Truncate.Position
		}
	case *wire.Order_Preempt:
		if a := m.attempts[o.Preempt.AttemptId]; a != nil {
			m.preempt(a, o.Preempt.Split)
		}
	case *wire.Order_Suspend:
		if a := m.attempts[o.Suspend.AttemptId]; a != nil {
			a.suspend(now)
		}
	case *wire.Order_Resume:
		if a := m.attempts[o.Resume.AttemptId]; a != nil {
			a.resume(now)
		}
	case *wire.Order_Outputs_:
		m.addOutputs(o.Outputs)
	case *wire.Order_RemoveJob_:
		m.removeJob(o.RemoveJob.JobId)
	case *wire.Order_Acknowledge_:
		delete(m.unacked, o.Acknowledge.AttemptId)
	case *wire.Order_CopyOutput_:
		m.copyOutput(o.CopyOutput)
	case *wire.Order_DropCopy_:
		delete(m.retained, o.DropCopy.AttemptId)
		delete(m.job(o.DropCopy.JobId).known, o.DropCopy.AttemptId)
	case *wire.Order_RequestProgress_:
		for _, a := range m.attempts {
			a.fetched = 0
		}
		m.pending.ResendAll()
		m.noteProgress(now)
		m.sendJoined(m.pending.Flush(now, false))
	case *wire.Order_RequestCounters_:
		for name, a := range m.attempts {
			if a.start.JobId == o.RequestCounters.JobId {
				m.pending.RequestCounters(name)
			}
		}
	case *wire.Order_ResendReport_:
		if r := m.retained[o.ResendReport.AttemptId]; r != nil {
			m.send(r)
		}
	}
}

// job returns the record of a job, and makes it if needed.
func (m *machine) job(id string) *job {
	j := m.jobs[id]
	if j == nil {
		j = &job{known: make(map[string]bool)}
		m.jobs[id] = j
	}
	return j
}

// kill ends an attempt at once. An attempt that is not here yet must not start later.
func (m *machine) kill(o *wire.Order_KillAttempt) {
	exited := &wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_Exited_{Exited: new(wire.Report_Exited)}}
	if a := m.attempts[o.AttemptId]; a != nil {
		m.end(a, exited)
		m.fleet.ledger.killed(a.id)
		return
	}
	id, err := cluster.ParseAttemptID(o.AttemptId)
	if j := m.job(id.Task.Job.String()); err == nil && !j.known[o.AttemptId] {
		j.known[o.AttemptId], m.unacked[o.AttemptId] = true, exited
		m.send(exited)
	}
}

// startWaiting starts the reduces of a job that have waited for its maps.
func (m *machine) startWaiting(id string) {
	for _, a := range m.attempts {
		if a.waits && a.start.JobId == id {
			a.run(time.Now())
		}
	}
}

// removeJob forgets a job. Attempts that still run end as killed.
func (m *machine) removeJob(id string) {
	for name, a := range m.attempts {
		if a.start.JobId == id {
			delete(m.attempts, name)
			m.pending.Drop(name)
		}
	}
	for name := range m.job(id).known {
		delete(m.retained, name)
	}
	delete(m.jobs, id)
}

// copyOutput answers with a copy of the output at once.
func (m *machine) copyOutput(o *wire.Order_CopyOutput) {
	copied := &wire.Report_OutputCopied{}
	for _, out := range o.Finished.GetOutputs() {
		copied.Outputs = append(copied.Outputs, &taskproc.MapOutput{
			Task: out.Task, Attempt: out.Attempt, Path: pathOf(o.JobId, o.AttemptId), IndexChecksum: out.IndexChecksum, Edge: out.Edge,
		})
	}
	m.job(o.JobId).known[o.AttemptId] = true
	m.retained[o.AttemptId] = &wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_Finished{Finished: o.Finished}}
	m.send(&wire.Report{AttemptId: o.AttemptId, Report: &wire.Report_OutputCopied_{OutputCopied: copied}})
}
