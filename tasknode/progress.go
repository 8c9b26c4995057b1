package tasknode

import (
	"maps"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/wire"
)

// progress is how far attempts are, as the jobmaster has not been told yet: the
// latest report of each. It is told together, so that a master of many tasks
// does not wake up for each by itself.
type progress struct {
	latest map[string]*wire.Report // by attempt
	due    <-chan time.Time        // when it is to be told; nil while there is none
}

// put takes in what replaces earlier progress of the attempt. It is told within
// that time.
func (p *progress) put(r *wire.Report, within time.Duration) {
	if p.latest == nil {
		p.latest = make(map[string]*wire.Report)
	}
	p.latest[r.AttemptId] = r
	if p.due == nil {
		p.due = time.After(within)
	}
}

// drop forgets the progress of an attempt that has ended.
func (p *progress) drop(attempt string) { delete(p.latest, attempt) }

// tell sends all progress, in the order of attempts.
func (p *progress) tell(send func(*wire.Report)) {
	for _, id := range slices.Sorted(maps.Keys(p.latest)) {
		send(p.latest[id])
	}
	clear(p.latest)
	p.due = nil
}
