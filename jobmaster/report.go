package jobmaster

import (
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"google.golang.org/protobuf/proto"
)

// Report passes a report of the tasknode to the master. It waits while reports of the tasknode
// occupy the whole share of the inbox, so that its session reads no more. One goroutine calls it.
func (a *Attachment) Report(r *wire.Report) {
	m := &reportMessage{a, r, min(maxReports, 1+proto.Size(r)/reportShare)}
	for range m.tokens {
		select {
		case a.unhandled <- struct{}{}:
		case <-a.master.stopped:
			return
		}
	}
	a.master.inbox.Put(m)
}

// reportMessage is a report in the inbox.
type reportMessage struct {
	*Attachment
	report *wire.Report
	tokens int // that it holds of unhandled
}

func (r *reportMessage) handle(m *Master) {
	r.refuse(nil)
	m.handleReport(r.Attachment, r.report)
}

// refuse takes the report out of the count. It is also called if handle has panicked.
func (r *reportMessage) refuse(error) {
	for ; r.tokens > 0; r.tokens-- {
		<-r.unhandled
	}
}

// handleReport converts a report into an event. It drops a report of an attachment that has
// ended, because the tasknode sends the report again over its next attachment.
func (m *Master) handleReport(a *Attachment, report *wire.Report) {
	n := m.tasknodes[a.machine]
	if a.lead != m.lead || n == nil || n.attachment != a {
		return
	}
	n.lastSeen = m.now()
	m.handleEach(a, n, report)
}

// handleEach converts a report, or each report of a batch.
func (m *Master) handleEach(a *Attachment, n *tasknodeRecord, report *wire.Report) {
	if batch := report.GetBatch(); batch != nil {
		for _, r := range batch.Reports {
			m.handleEach(a, n, r)
		}
		return
	}
	if beat := report.GetHeartbeat(); beat != nil {
		n.heartbeat = beat
		if beat.Clock != 0 {
			n.skew = beat.Clock - m.now()
		}
		m.noteHealth(a.machine, beat.Unhealthy)
		if headroom := headroomOf(beat); headroom != nil {
			m.events = append(m.events, control.MachineMeasured{Name: a.machine, Headroom: *headroom})
		}
		return
	}
	if joined := report.GetJoined(); joined != nil {
		m.join(a, joined)
		return
	}
	id, err := cluster.ParseAttemptID(report.AttemptId)
	if copied := report.GetOutputCopied(); copied != nil && err == nil {
		m.outputCopied(a.machine, id, copied)
		return
	}
	_, _, attempt, known := m.view.Attempt(id)
	if err != nil || !known || attempt.Machine != a.machine || !attempt.OnMachine() {
		if done := report.GetFinished(); done != nil && attempt != nil && attempt.Lost() && attempt.DataMachine() == a.machine {
			m.outputRestored(attempt, done)
		}
		a.send(acknowledgeOrder(report.AttemptId))
		return
	}
	m.contain(id.Task.Job, func() { m.attemptReport(attempt, report) })
}

// scriptPrefix begins the reason in Machine.Unhealthy if it comes from a health script. Only
// such a reason ends when the script succeeds.
const scriptPrefix = "health script: "

// noteHealth requests that the state says what a machine's health script reports.
func (m *Master) noteHealth(name, unhealthy string) {
	machine := m.view.Machine(name)
	if machine == nil || unhealthy == "" && !strings.HasPrefix(machine.Unhealthy, scriptPrefix) {
		return
	}
	if unhealthy != "" {
		unhealthy = scriptPrefix + truncateText(unhealthy)
	}
	if machine.Unhealthy == unhealthy || unhealthy != "" && machine.Unhealthy != "" {
		return // the first reason stays: a script may report another text each time
	}
	m.cfg.Logger.Warn("health of a tasknode changed", "tasknode", name, "unhealthy", unhealthy)
	m.request(cluster.SetHealth{Name: name, Unhealthy: unhealthy})
}

// attemptReport converts the report of a running attempt into an event. The controller
// decides what the report means, because the attempt may already be ending. Texts are
// bounded, because the task determines their length and the log keeps them.
func (m *Master) attemptReport(a *cluster.Attempt, report *wire.Report) {
	switch r := report.Report.(type) {
	case *wire.Report_Progress:
		m.progressed(a, r.Progress)
	case *wire.Report_Finished:
		m.finished(a, r.Finished)
	case *wire.Report_Failed:
		lost, _ := cluster.ParseAttemptID(r.Failed.LostMapAttempt) // zero if the report names no attempt
		m.events = append(m.events, control.AttemptFailed{Attempt: a.ID, Failure: failureOf(r.Failed), LostOutput: lost, Unreached: r.Failed.LostMapUnreached, BadCheckpoint: r.Failed.BadCheckpoint, StorageDown: r.Failed.StorageDown})
	case *wire.Report_Checkpointed:
		m.request(cluster.CheckpointAttempt{Attempt: a.ID, Checkpoint: checkpointOf(r.Checkpointed.Checkpoint)})
	case *wire.Report_PreemptionDeclined:
		m.events = append(m.events, control.PreemptionDeclined{Attempt: a.ID, Cause: truncateText(r.PreemptionDeclined.Cause), CanSuspend: r.PreemptionDeclined.CanSuspend})
	case *wire.Report_Exited_:
		m.events = append(m.events, control.AttemptExited{Attempt: a.ID, Cause: truncateText(r.Exited.Cause), StuckStack: truncateText(r.Exited.StuckStack)})
	}
}

// progressed records the progress of a running attempt. Progress is soft state: it is not in
// the log, and a new leader has none until attempts report again. The phase shows when a
// reduce has all of its input. Only the first report of that phase counts. A report without
// counters leaves those of an earlier report.
func (m *Master) progressed(a *cluster.Attempt, p *taskproc.Progress) {
	if !a.Active() {
		return
	}
	r, j := m.record(a.ID.Task.Job), m.view.Job(a.ID.Task.Job)
	if len(p.Counters) > j.MostCounters(m.view.Limits()) {
		p.Counters = nil // the report of its end will be refused
	}
	p.Phase, p.Status = truncateText(p.Phase), truncateText(p.Status)
	if known := r.progress[a.ID]; len(p.Counters) == 0 && known != nil {
		p.Counters = known.Counters
	}
	r.setProgress(a.ID, p)
	delete(r.awaitingProgress, a.ID)
	if r.shuffleDone[a.ID] == 0 && (p.Phase == "sort" || p.Phase == "reduce") {
		r.shuffleDone[a.ID] = m.now()
	}
	r.stale = true
	m.events = append(m.events, control.AttemptProgressed{
		Attempt: a.ID, Mark: p.Mark, Fraction: p.Fraction, Memory: p.MemoryBytes, Unwritten: p.UnwrittenBytes, Fetched: fetchedOf(j, p.Fetched),
	})
}

// headroomOf returns the free memory of a tasknode's machine, nil if it is unknown.
func headroomOf(beat *wire.Report_Heartbeat) *preempt.MemHeadroom {
	if beat.GetMemoryAvailable() <= 0 {
		return nil
	}
	return &preempt.MemHeadroom{Free: beat.MemoryAvailable, Swap: max(beat.SwapFree, 0)}
}

// finished passes the end of an attempt to the controller. Apply checks what the log keeps of the
// report; what only the master keeps is checked here.
func (m *Master) finished(a *cluster.Attempt, d *taskproc.Finished) {
	j, _, _, _ := m.view.Task(a.ID.Task)
	if err := checkEmptySets(j.Spec.Graph, d.Outputs); err != nil {
		m.events = append(m.events, control.AttemptFailed{Attempt: a.ID, Failure: cluster.Failure{Cause: err.Error(), Offset: -1}})
		return
	}
	m.events = append(m.events, control.AttemptFinished{
		Attempt: a.ID, Range: m.keepOutputs(a, d), Output: manifestOf(d), Counters: countersOf(d.Counters),
	})
}

// keepOutputs keeps the part of an output's description that is too large for the log. It
// returns the range that was processed. This range begins at the start of the attempt's
// range, even if the attempt resumed from a checkpoint. It ends where the attempt ended; a
// split may have made this end earlier.
func (m *Master) keepOutputs(a *cluster.Attempt, d *taskproc.Finished) dag.Range {
	if len(d.Outputs) > 0 {
		m.record(a.ID.Task.Job).outputs.keepReported(a.ID, d.Outputs)
	}
	processed := a.Range
	if d.Range != nil && !a.Range.Empty() {
		processed.End = taskproc.ToPosition(d.Range.End)
	}
	return processed
}
