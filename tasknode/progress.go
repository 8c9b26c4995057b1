package tasknode

import (
	"maps"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// pendingProgress has the latest unsent progress report of each attempt. All reports are
// sent together, so that a master with many tasks does not handle each report separately.
//
// Only the loop uses it. A master requests progress after a machine was lost. The reports
// that answer this request (probed) are sent at once, because decisions wait for them.
type pendingProgress struct {
	latest map[string]*wire.Report // reports by attempt
	due    <-chan time.Time        // when to send the reports; nil if there are none
	probed map[string]bool         // attempts whose next report is sent at once
}

// add adds a report and replaces an earlier report of the attempt. The reports are sent at
// the latest when the time within has passed.
func (p *pendingProgress) add(r *wire.Report, within time.Duration) {
	if p.latest == nil {
		p.latest = make(map[string]*wire.Report)
	}
	keepFetched(p.latest[r.AttemptId], r)
	p.latest[r.AttemptId] = r
	if p.due == nil {
		p.due = time.After(within)
	}
}

// keepFetched copies to the later report what an earlier, unsent report says about edges
// that the later report does not mention.
func keepFetched(earlier, later *wire.Report) {
	p := later.GetProgress()
	for _, f := range earlier.GetProgress().GetFetched() {
		if !slices.ContainsFunc(p.Fetched, func(g *taskproc.Fetched) bool { return g.Edge == f.Edge }) {
			p.Fetched = append(p.Fetched, f)
		}
	}
}

// expect makes the next report of an attempt be sent at once.
func (p *pendingProgress) expect(attempt string) {
	if p.probed == nil {
		p.probed = make(map[string]bool)
	}
	p.probed[attempt] = true
}

// isProbed reports whether the next report of an attempt must be sent at once. If so, it
// removes the waiting report of that attempt.
func (p *pendingProgress) isProbed(attempt string) bool {
	if !p.probed[attempt] {
		return false
	}
	p.drop(attempt)
	return true
}

// drop removes the report of an attempt that has ended, or whose report was sent.
func (p *pendingProgress) drop(attempt string) {
	delete(p.latest, attempt)
	delete(p.probed, attempt)
}

// probe asks every attempt for a progress report.
func (d *Daemon) probe() {
	for id, a := range d.attempts {
		d.pending.expect(id)
		a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_RequestProgress{RequestProgress: new(taskproc.RequestProgress)}})
	}
}

// flush sends all reports in the order of attempts.
func (p *pendingProgress) flush(send func(*wire.Report)) {
	for _, id := range slices.Sorted(maps.Keys(p.latest)) {
		send(p.latest[id])
	}
	clear(p.latest)
	p.due = nil
}
