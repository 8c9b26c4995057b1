package tasknode

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// PendingProgress has the latest progress of each running attempt, and what the master knows
// of it. A master has many thousand attempts, so it gets only what it needs, in one report:
//
//	task ── Progress, all counters, 4 times a second ──► Add
//	                                                      │ Flush, after ProgressDelay and at each heartbeat
//	  first, in another phase, or with fetched outputs ───┤
//	  changed by a percent, after minInterval ────────────┤
//	  progress that does not show, after hiddenInterval ──┼──► Progress without counters
//	  RequestCounters, and every countersInterval ────────┴──► with counters
//
// A message costs the master much more than a report in it. So progress is sent a little earlier
// if there is a message anyway, such as a heartbeat.
//
// A master requests progress after a machine was lost. The reports that answer this request
// (probed) are sent at once, because decisions wait for them.
//
// One goroutine uses it. The zero value is empty.
type PendingProgress struct {
	attempts map[string]*attemptProgress // running attempts that have reported
	due      <-chan time.Time            // when to send the reports; nil if there are none
	probed   map[string]bool             // attempts whose next report is sent at once
}

// attemptProgress is the progress of one attempt.
type attemptProgress struct {
	latest     *taskproc.Progress // as the task reported it, with the unsent sets of fetched outputs
	timeout    time.Duration      // mapreduce.task.timeout; 0: none
	since      time.Time          // when it reported first
	sent       *taskproc.Progress // the last report to this master; nil: none
	sentAt     time.Time
	countersAt time.Time // when a report had counters
	counters   bool      // the master has requested counters
}

const (
	// minInterval is how often progress of an attempt is reported at most.
	minInterval = time.Second

	// maxHiddenInterval bounds hiddenInterval.
	maxHiddenInterval = 10 * time.Second

	// countersInterval is how often counters are reported without a request.
	countersInterval = 30 * time.Second
)

// Add adds a report and replaces an earlier report of the attempt, whose mapreduce.task.timeout
// is given. What the master needs is sent at the latest when the time within has passed.
func (p *PendingProgress) Add(attempt string, latest *taskproc.Progress, timeout, within time.Duration) {
	if p.attempts == nil {
		p.attempts = make(map[string]*attemptProgress)
	}
	known := p.attempts[attempt]
	if known == nil {
		now := time.Now()
		known = &attemptProgress{timeout: timeout, since: now, countersAt: now}
		p.attempts[attempt] = known
	}
	keepFetched(known.latest, latest)
	known.latest = latest
	p.sendWithin(within)
}

// sendWithin makes due yield when this time has passed, or earlier.
func (p *PendingProgress) sendWithin(within time.Duration) {
	if p.due == nil {
		p.due = time.After(within)
	}
}

// latestFetched returns the latest set of each edge that the attempt reads; reads ascends. A task
// may send any number of sets, and keepFetched compares each with each.
func latestFetched(sets []*taskproc.Fetched, reads []int32) (latest []*taskproc.Fetched) {
	byEdge := make(map[int32]*taskproc.Fetched)
	for _, f := range sets {
		if _, does := slices.BinarySearch(reads, f.Edge); does {
			byEdge[f.Edge] = f
		}
	}
	for _, edge := range slices.Sorted(maps.Keys(byEdge)) {
		latest = append(latest, byEdge[edge])
	}
	return latest
}

// keepFetched copies to the later report what an earlier, unsent report says about edges
// that the later report does not mention. The report may become as long as a task's own may be.
// A set that is missing costs only repeated work when a machine is lost.
func keepFetched(earlier, later *taskproc.Progress) {
	bytes := -1
	for _, f := range earlier.GetFetched() {
		if slices.ContainsFunc(later.Fetched, func(g *taskproc.Fetched) bool { return g.Edge == f.Edge }) {
			continue
		}
		if bytes < 0 {
			bytes = proto.Size(later)
		}
		if bytes += proto.Size(f) + 2*binary.MaxVarintLen64; bytes <= taskproc.MaxFromTaskBytes {
			later.Fetched = append(later.Fetched, f)
		}
	}
}

// expect makes the next report of an attempt be sent at once.
func (p *PendingProgress) expect(attempt string) {
	if p.probed == nil {
		p.probed = make(map[string]bool)
	}
	p.probed[attempt] = true
}

// answersProbe reports whether the report that was just added must be sent at once.
func (p *PendingProgress) answersProbe(attempt string) bool {
	probed := p.probed[attempt]
	delete(p.probed, attempt)
	return probed
}

// Drop removes an attempt that has ended.
func (p *PendingProgress) Drop(attempt string) {
	delete(p.attempts, attempt)
	delete(p.probed, attempt)
}

// RequestCounters makes the next report of an attempt have its counters.
func (p *PendingProgress) RequestCounters(attempt string) {
	if known := p.attempts[attempt]; known != nil {
		known.counters = true
	}
}

// ResendAll makes the next reports complete, because another master gets them.
func (p *PendingProgress) ResendAll() {
	for _, known := range p.attempts {
		known.sent = nil
	}
}

// Flush returns the reports that the master needs, in the order of attempts. With heartbeat, a
// heartbeat is sent with them.
func (p *PendingProgress) Flush(now time.Time, heartbeat bool) (reports []*wire.Report) {
	p.due = nil
	ids := slices.Sorted(maps.Keys(p.attempts))
	if !heartbeat && !slices.ContainsFunc(ids, func(id string) bool { return p.attempts[id].needed(now, false) }) {
		return nil
	}
	for _, id := range ids {
		if known := p.attempts[id]; known.needed(now, true) {
			reports = append(reports, known.report(id, now))
		}
	}
	return reports
}

// needed reports whether the master needs a report of the attempt. With early, there is a
// message anyway.
func (k *attemptProgress) needed(now time.Time, early bool) bool {
	latest, sent := k.latest, k.sent
	if sent == nil || k.countersDue(now) || len(latest.Fetched) > 0 || latest.Phase != sent.Phase {
		return true
	}
	interval := minInterval
	if !k.shows() {
		if latest.Mark == sent.Mark {
			return false
		}
		interval = k.hiddenInterval(now)
	}
	if early {
		interval = max(interval/2, interval-minInterval)
	}
	return now.Sub(k.sentAt) >= interval
}

// shows reports whether the latest progress differs from the last report by enough to matter.
func (k *attemptProgress) shows() bool {
	latest, sent := k.latest, k.sent
	return math.Abs(latest.Fraction-sent.Fraction) >= 0.01 ||
		differs(latest.MemoryBytes, sent.MemoryBytes) || differs(latest.UnwrittenBytes, sent.UnwrittenBytes)
}

// hiddenInterval is how often progress that does not show is reported. A report may be so much
// older than the last progress, which shortens the timeout by as much: by at most a sixtieth,
// or by minInterval. The remaining time of an attempt is estimated from its last report,
// so that report is not older than a tenth of the attempt.
func (k *attemptProgress) hiddenInterval(now time.Time) time.Duration {
	interval := min(maxHiddenInterval, now.Sub(k.since)/10)
	if k.timeout > 0 {
		interval = min(interval, k.timeout/60)
	}
	return max(interval, minInterval)
}

// countersDue reports whether the next report has counters.
func (k *attemptProgress) countersDue(now time.Time) bool {
	return k.counters || now.Sub(k.countersAt) >= countersInterval
}

// differs reports whether sizes differ by an eighth and by at least 1 MiB.
func differs(now, before int64) bool {
	change := max(now, before) - min(now, before)
	return change >= 1<<20 && change >= before/8
}

// report returns the latest progress as the master needs it, and notes that it is sent. The
// master uses neither the position nor the status.
func (k *attemptProgress) report(attempt string, now time.Time) *wire.Report {
	l := k.latest
	p := &taskproc.Progress{
		Fraction: l.Fraction, Phase: l.Phase, Mark: l.Mark, MemoryBytes: l.MemoryBytes, UnwrittenBytes: l.UnwrittenBytes, Fetched: l.Fetched,
	}
	if k.countersDue(now) {
		p.Counters, k.counters, k.countersAt = l.Counters, false, now
	}
	l.Fetched, k.sent, k.sentAt = nil, p, now
	return &wire.Report{AttemptId: attempt, Report: &wire.Report_Progress{Progress: p}}
}

// probe asks every attempt for a progress report.
func (d *Daemon) probe() {
	for id, a := range d.attempts {
		d.pending.expect(id)
		a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_RequestProgress{RequestProgress: new(taskproc.RequestProgress)}})
	}
}

// progressed sends the progress of an attempt, or keeps it for the next flush.
func (d *Daemon) progressed(r *wire.Report) {
	if d.cfg.ProgressDelay == 0 {
		d.send(r)
		return
	}
	var timeout time.Duration
	if a := d.attempts[r.AttemptId]; a != nil {
		timeout = a.limits.Timeout
	}
	d.pending.Add(r.AttemptId, r.GetProgress(), timeout, d.cfg.ProgressDelay)
	if d.pending.answersProbe(r.AttemptId) {
		d.sendJoined([]*wire.Report{d.pending.attempts[r.AttemptId].report(r.AttemptId, time.Now())})
	}
}

// sendCounters sends the counters of the attempts of a job with their next reports.
func (d *Daemon) sendCounters(job string) {
	for id, a := range d.attempts {
		if a.start.JobId == job {
			d.pending.RequestCounters(id)
		}
	}
	d.pending.sendWithin(d.cfg.ProgressDelay)
}

// maxBatchBytes bounds a message with several reports. Each report is at most as long as a
// task's message, so no message is longer than a master accepts.
const maxBatchBytes = 1 << 20

// sendJoined sends reports in few messages. The reports in a message do not repeat the name of
// the machine.
func (d *Daemon) sendJoined(reports []*wire.Report) {
	for _, m := range wire.JoinReports(reports, maxBatchBytes) {
		m.Machine = d.cfg.Name
		d.send(m)
	}
}
