package tasknode

import (
	"maps"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// pendingProgress is how far attempts are, as the jobmaster has not been told yet: the
// latest report of each. It is told together, so that a master of many tasks
// does not wake up for each by itself.
type pendingProgress struct {
	latest map[string]*wire.Report // by attempt
	due    <-chan time.Time        // when it is to be told; nil while there is none
	probed map[string]bool         // attempts whose progress is told as soon as it is known
}

// add takes in what replaces earlier progress of the attempt. It is told within
// that time.
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

// keepFetched adds to a report what an earlier one, which is not told, says of edges
// that the later says nothing of.
func keepFetched(earlier, later *wire.Report) {
	p := later.GetProgress()
	for _, f := range earlier.GetProgress().GetFetched() {
		if !slices.ContainsFunc(p.Fetched, func(g *taskproc.Fetched) bool { return g.Edge == f.Edge }) {
			p.Fetched = append(p.Fetched, f)
		}
	}
}

// expect has the next progress of an attempt told as soon as it is known.
func (p *pendingProgress) expect(attempt string) {
	if p.probed == nil {
		p.probed = make(map[string]bool)
	}
	p.probed[attempt] = true
}

// isProbed reports whether progress of an attempt is awaited. It replaces what was
// to be told of the attempt later.
func (p *pendingProgress) isProbed(attempt string) bool {
	if !p.probed[attempt] {
		return false
	}
	p.drop(attempt)
	return true
}

// drop forgets the progress of an attempt, which has ended or been told.
func (p *pendingProgress) drop(attempt string) {
	delete(p.latest, attempt)
	delete(p.probed, attempt)
}

// probe asks every attempt how far it is.
func (n *Daemon) probe() {
	for id, a := range n.attempts {
		n.pending.expect(id)
		a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_RequestProgress{RequestProgress: new(taskproc.RequestProgress)}})
	}
}

// flush sends all progress, in the order of attempts.
func (p *pendingProgress) flush(send func(*wire.Report)) {
	for _, id := range slices.Sorted(maps.Keys(p.latest)) {
		send(p.latest[id])
	}
	clear(p.latest)
	p.due = nil
}
