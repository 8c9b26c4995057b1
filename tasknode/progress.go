package tasknode

import (
	"maps"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// pendingProgress is the latest progress report of each attempt that has not been sent.
// All are sent together, so that a master of many tasks does not wake up for each of
// them.
//
// Only the loop uses it. A master asks for progress after a machine was lost; the
// answers to that (probed) are sent at once, because decisions wait for them.
type pendingProgress struct {
	latest map[string]*wire.Report // by attempt
	due    <-chan time.Time        // when the reports are to be sent; nil if there are none
	probed map[string]bool         // attempts whose next report is sent at once
}

// add replaces an earlier report of the attempt, to be sent within that time.
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

// keepFetched copies what an earlier report, which was not sent, says of edges that the
// later one does not mention.
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

// isProbed reports whether the next report of an attempt is to be sent at once. If so,
// it drops the one that waits.
func (p *pendingProgress) isProbed(attempt string) bool {
	if !p.probed[attempt] {
		return false
	}
	p.drop(attempt)
	return true
}

// drop removes the report of an attempt that has ended or has been sent.
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
