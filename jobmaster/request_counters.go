package jobmaster

import (
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// Tasknodes report the counters of running attempts seldom of their own accord. A master that
// shows the status of a job requests them.

// Intervals between requests for the counters of a job. A job with many running attempts has
// longer ones, so that at most 1,000 attempts a second are asked.
const (
	minCountersInterval = time.Second
	maxCountersInterval = 10 * time.Second
)

// requestCounters requests the counters of the running attempts of a job, if the last request
// is long enough ago.
func (m *Master) requestCounters(r *record) {
	now := m.clock.now()
	interval := min(max(time.Duration(len(r.progress))*time.Millisecond, minCountersInterval), maxCountersInterval)
	if len(r.progress) == 0 || now.Sub(r.countersAskedAt) < interval {
		return
	}
	r.countersAskedAt = now
	asked := make(map[string]bool)
	for id := range r.progress {
		_, _, a, known := m.view.Attempt(id)
		if !known || asked[a.Machine] {
			continue
		}
		asked[a.Machine] = true
		m.deliver(a.Machine, &wire.Order{Order: &wire.Order_RequestCounters_{RequestCounters: &wire.Order_RequestCounters{JobId: id.Task.Job.String()}}})
	}
}
