package fleet

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
)

// progressInterval is the time after which tasknodes send the latest progress of an attempt.
const progressInterval = 500 * time.Millisecond

// attempt is a task that only waits.
//
//	waiting ── all maps have finished ──► running ── end ──► Finished or Failed
//	(a reduce)                             │   ▲
//	                                Suspend▼   │Resume
//	                                     suspended
type attempt struct {
	id        cluster.AttemptID
	start     *taskproc.Start
	job       *job
	fate      fate
	timeout   time.Duration // mapreduce.task.timeout
	waits     bool          // for outputs of maps
	suspended bool          // no time passes
	end       time.Time     // of the running task
	remaining time.Duration // of the suspended task
	rangeEnd  *taskproc.Position
	fetched   uint64 // revision of the outputs in the last Fetched that was sent
}

func (a *attempt) runs() bool { return !a.waits && !a.suspended }

func (a *attempt) isReduce() bool { return a.start.Kind == taskproc.Kind_REDUCE }

// slot returns the index of the kind of slot in machine.freed.
func (a *attempt) slot() int {
	if a.isReduce() {
		return 1
	}
	return 0
}

// run starts the timer.
func (a *attempt) run(now time.Time) { a.waits, a.end = false, now.Add(a.fate.duration) }

// fraction returns the progress. Half of a reduce's progress is copying.
func (a *attempt) fraction(now time.Time) float64 {
	if a.waits || a.fate.duration <= 0 {
		return 0
	}
	left := a.end.Sub(now)
	if a.suspended {
		left = a.remaining
	}
	done := min(max(1-float64(left)/float64(a.fate.duration), 0), 1)
	if a.isReduce() {
		return (2 + done) / 3
	}
	return done
}

// newAttempt starts an attempt, unless it was started before.
func (m *machine) newAttempt(start *taskproc.Start) {
	j := m.job(start.JobId)
	if j.known[start.AttemptId] {
		return
	}
	j.known[start.AttemptId] = true
	id, err := cluster.ParseAttemptID(start.AttemptId)
	if err == nil && j.Job == (Job{}) {
		err = json.Unmarshal(start.Config, &j.Job)
	}
	if err != nil {
		m.fleet.ledger.violated("%s: order to start %q: %v", m.name, start.AttemptId, err)
		return
	}
	limits, _ := tasknode.LimitsOf(start)
	a := &attempt{id: id, start: start, job: j, fate: j.fateOf(start), timeout: limits.Timeout}
	m.attempts[start.AttemptId] = a
	m.fleet.ledger.started(id, m.name)
	m.fleet.counts.starts.Add(1)
	if freed := m.freed[a.slot()]; len(freed) > 0 {
		m.fleet.turnaround.add(time.Since(freed[0]))
		m.freed[a.slot()] = freed[1:]
	}
	if a.waits = a.isReduce() && !j.complete; !a.waits {
		a.run(time.Now())
	}
	m.send(&wire.Report{AttemptId: start.AttemptId, Report: &wire.Report_Started_{Started: new(wire.Report_Started)}})
}

// end ends an attempt with its final report, which is repeated until it is acknowledged.
func (m *machine) end(a *attempt, final *wire.Report) {
	name := a.start.AttemptId
	final.AttemptId = name
	delete(m.attempts, name)
	m.pending.Drop(name)
	m.unacked[name] = final
	m.freed[a.slot()] = append(m.freed[a.slot()], time.Now())
	m.fleet.counts.ends.Add(1)
	switch r := final.Report.(type) {
	case *wire.Report_Finished:
		m.fleet.ledger.finished(a.id)
		if len(r.Finished.Outputs) > 0 {
			m.retained[name] = final
		}
	case *wire.Report_Failed:
		m.fleet.ledger.excuse(a.id)
	}
	m.send(final)
}

// result returns the final report of an attempt whose time is over.
func (a *attempt) result() *wire.Report {
	if a.fate.fails {
		return &wire.Report{Report: &wire.Report_Failed{Failed: &taskproc.Failure{Cause: "fleet: the job asked for this failure", Offset: -1}}}
	}
	done := &taskproc.Finished{Counters: countersAt(1), OutputBytes: outputBytes, OutputRecords: 1000}
	if !a.isReduce() {
		done.Range = a.start.Range
		if a.rangeEnd != nil {
			done.Range = &taskproc.Range{Start: a.start.Range.GetStart(), End: a.rangeEnd}
		}
		done.Outputs = a.mapOutputs()
	}
	return &wire.Report{Report: &wire.Report_Finished{Finished: done}}
}

// outputBytes is the output of each task.
const outputBytes = 64 << 20

// countersAt returns the counters of a task, as many as a small real one has.
func countersAt(fraction float64) []*taskproc.Counter {
	out := make([]*taskproc.Counter, len(taskCounters))
	for i, id := range taskCounters {
		out[i] = &taskproc.Counter{Group: id.Group, Name: id.Name, Value: int64(fraction * 1e6 * float64(i+1))}
	}
	return out
}

var taskCounters = []counter.ID{
	counter.MapInputRecords, counter.MapOutputRecords, counter.MapOutputBytes, counter.MapOutputMaterializedBytes,
	counter.InputSplitBytes, counter.SpilledRecords, counter.GCTimeMillis, counter.CPUTimeMillis, counter.PhysicalMemoryBytes,
	counter.VirtualMemoryBytes, counter.CommittedHeapBytes, counter.BytesRead, counter.BytesWritten,
	counter.FSBytesRead("file"), counter.FSBytesWritten("file"), counter.FSReadOps("file"), counter.FSWriteOps("file"),
}

// noteProgress notes the progress of every attempt.
func (m *machine) noteProgress(now time.Time) {
	for name, a := range m.attempts {
		if a.suspended {
			continue
		}
		fraction := a.fraction(now)
		p := &taskproc.Progress{
			Fraction: fraction, Phase: "map", Counters: countersAt(fraction), Records: int64(fraction * 1000),
			Mark: uint64(now.UnixNano()), MemoryBytes: 200 << 20, UnwrittenBytes: 50 << 20,
		}
		if a.isReduce() {
			p.Phase = "reduce"
			if a.waits {
				p.Phase = "copy"
			}
			p.Fetched = a.newlyFetched()
		}
		m.pending.Add(name, p, a.timeout, progressInterval)
	}
}

// sendJoined sends reports in one message, as tasknodes do.
func (m *machine) sendJoined(reports []*wire.Report) {
	for _, r := range wire.JoinReports(reports, 1<<20) {
		m.send(r)
	}
}

// preempt answers an order to preempt an attempt. A map is split where it is; all others
// decline, as tasks without checkpoints do.
func (m *machine) preempt(a *attempt, split bool) {
	r := a.start.GetRange()
	at := r.GetStart().GetOffset() + int64(a.fraction(time.Now())*float64(r.GetEnd().GetOffset()-r.GetStart().GetOffset()))
	if split && !a.isReduce() && a.rangeEnd == nil && at > r.GetStart().GetOffset() && at < r.GetEnd().GetOffset() {
		a.rangeEnd, a.fate.fails = &taskproc.Position{Offset: at}, false
		m.fleet.ledger.addTasks(a.start.JobId, 1)
		m.end(a, a.result())
		return
	}
	m.send(&wire.Report{AttemptId: a.start.AttemptId, Report: &wire.Report_PreemptionDeclined{
		PreemptionDeclined: &taskproc.PreemptionDeclined{Cause: "fleet: the task has nothing to save", CanSuspend: true},
	}})
}

// suspend stops the timer.
func (a *attempt) suspend(now time.Time) {
	if !a.suspended {
		a.suspended, a.remaining = true, a.end.Sub(now)
	}
}

// resume continues the timer.
func (a *attempt) resume(now time.Time) {
	if a.suspended {
		a.suspended, a.end = false, now.Add(a.remaining)
	}
}

// pathOf returns the path of an attempt's output on a machine.
func pathOf(job, attempt string) string { return fmt.Sprintf("/fleet/%s/%s/map.out", job, attempt) }
