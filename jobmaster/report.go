package jobmaster

import (
	"hash/maphash"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

// Report passes a report of the tasknode to the master.
func (a *Attachment) Report(r *wire.Report) { a.master.post(func() { a.master.handleReport(a, r) }) }

// handleReport turns a report into an event. A report over an attachment that has ended is
// dropped: the tasknode sends it again over the next one.
func (m *Master) handleReport(a *Attachment, report *wire.Report) {
	n := m.tasknodes[a.machine]
	if a.lead != m.lead || n == nil || n.attachment != a {
		return
	}
	n.lastSeen = m.now()
	if beat := report.GetHeartbeat(); beat != nil {
		n.heartbeat = beat
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
	m.attemptReport(attempt, report)
}

// attemptReport turns the report of a running attempt into an event of the controller,
// which decides what the report means: the attempt may be ending already. Texts are
// bounded, because the task chooses them and the log keeps them.
func (m *Master) attemptReport(a *cluster.Attempt, report *wire.Report) {
	switch r := report.Report.(type) {
	case *wire.Report_Progress:
		m.progressed(a, r.Progress)
	case *wire.Report_Finished:
		m.finished(a, r.Finished)
	case *wire.Report_Failed:
		lost, _ := cluster.ParseAttemptID(r.Failed.LostMapAttempt) // zero if it names none
		m.events = append(m.events, control.AttemptFailed{Attempt: a.ID, Failure: failureOf(r.Failed), LostOutput: lost, BadCheckpoint: r.Failed.BadCheckpoint})
	case *wire.Report_Checkpointed:
		m.events = append(m.events, control.AttemptCheckpointed{Attempt: a.ID, Checkpoint: checkpointOf(r.Checkpointed.Checkpoint)})
	case *wire.Report_PreemptionDeclined:
		m.events = append(m.events, control.PreemptionDeclined{Attempt: a.ID, Cause: truncateText(r.PreemptionDeclined.Cause), CanSuspend: r.PreemptionDeclined.CanSuspend})
	case *wire.Report_Exited_:
		m.events = append(m.events, control.AttemptExited{Attempt: a.ID, Cause: truncateText(r.Exited.Cause), StuckStack: truncateText(r.Exited.StuckStack)})
	}
}

// progressed records the progress of a running attempt. It is soft state: it is not in
// the log, and a new leader has none until attempts report again. The phase shows when
// a reduce has all of its input; only the first such report counts.
func (m *Master) progressed(a *cluster.Attempt, p *taskproc.Progress) {
	if !a.Active() {
		return
	}
	r := m.record(a.ID.Task.Job)
	r.progress[a.ID] = p
	delete(r.awaitingProgress, a.ID)
	if r.shuffleDone[a.ID] == 0 && (p.Phase == "sort" || p.Phase == "reduce") {
		r.shuffleDone[a.ID] = m.now()
	}
	r.stale = true
	m.events = append(m.events, control.AttemptProgressed{
		Attempt: a.ID, Mark: progressMark(p), Fraction: p.Fraction, Memory: p.MemoryBytes, Unwritten: p.UnwrittenBytes, Fetched: fetchedOf(p.Fetched),
	})
}

// headroomOf returns the memory that a tasknode's machine has left, nil if it is
// unknown.
func headroomOf(beat *wire.Report_Heartbeat) *preempt.MemHeadroom {
	if beat.GetMemoryAvailable() <= 0 {
		return nil
	}
	return &preempt.MemHeadroom{Free: beat.MemoryAvailable, Swap: max(beat.SwapFree, 0)}
}

// finished passes the end of an attempt to the controller.
func (m *Master) finished(a *cluster.Attempt, d *taskproc.Finished) {
	m.events = append(m.events, control.AttemptFinished{
		Attempt: a.ID, Range: m.keepOutputs(a, d), Output: manifestOf(d), Counters: countersOf(d.Counters),
	})
}

// keepOutputs keeps the part of an output's description that is too large for the log.
// It returns the range that was processed: from the start of the attempt's range, even
// if it resumed from a checkpoint, to where it ended, which a split may have made
// earlier.
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

var markSeed = maphash.MakeSeed()

// progressMark is a hash that changes when an attempt has made progress. Counters that
// advance by themselves, of time and memory, are left out.
func progressMark(p *taskproc.Progress) uint64 {
	var h maphash.Hash
	h.SetSeed(markSeed)
	maphash.WriteComparable(&h, p.Fraction)
	maphash.WriteComparable(&h, p.Records)
	maphash.WriteComparable(&h, taskproc.ToPosition(p.Position))
	h.WriteString(p.Phase)
	h.WriteString(p.Status)
	maphash.WriteComparable(&h, p.Activity)
	return h.Sum64() + countersMark(p.Counters)
}

// countersMark does not depend on the order of the counters.
func countersMark(counters []*taskproc.Counter) (sum uint64) {
	for _, c := range counters {
		id := counter.ID{Group: c.Group, Name: c.Name}
		if !advancesByItself(id) {
			sum += maphash.Comparable(markSeed, cluster.Counter{CounterName: cluster.CounterName(id), Value: c.Value})
		}
	}
	return sum
}

// advancesByItself reports whether a counter changes without progress: time, memory and
// collections of garbage increase in a task that does nothing.
func advancesByItself(id counter.ID) bool {
	switch id {
	case counter.GCTimeMillis, counter.CPUTimeMillis, counter.PhysicalMemoryBytes, counter.VirtualMemoryBytes,
		counter.CommittedHeapBytes, counter.PeakMapPhysicalBytes, counter.PeakMapVirtualBytes,
		counter.PeakReducePhysicalBytes, counter.PeakReduceVirtualBytes:
		return true
	}
	return false
}
