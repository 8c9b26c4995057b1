package jobmaster

import (
	"fmt"
	"time"
)

// Everything that waits for the loop is bounded, each kind by itself, so that clients cannot
// delay heartbeats:
//
//	requests of clients     Config.MaxRequests in the inbox; more are refused
//	submissions in the log  Config.MaxSubmissions; more are refused
//	watchers                Config.MaxWatchers; more are refused
//	reports                 maxReports of each tasknode in the inbox, fewer if they are
//	                        long; its session waits
//
// A refused request has had no effect.

// Reports of a tasknode that wait in the inbox share maxReports tokens. A report takes one token,
// and one more for each reportShare bytes. So long reports of a tasknode take at most 16 MB.
const (
	maxReports  = 1000
	reportShare = 16 << 10
)

// retryAfter is when a refused client may try again.
const retryAfter = 500 * time.Millisecond

// OverloadError refuses a request because too many are waiting.
type OverloadError struct {
	What       string        // what there is too much of
	RetryAfter time.Duration // when to try again at the earliest
}

func (e *OverloadError) Error() string {
	return fmt.Sprintf("the master is overloaded: %s; try again later", e.What)
}

// tooMany counts a refused request and returns its error.
func (m *Master) tooMany(limit int, what string) error {
	m.meters.refused.Add(1)
	return &OverloadError{What: fmt.Sprintf("%d %s", limit, what), RetryAfter: retryAfter}
}

// clientRequest is a request of a client in the inbox.
type clientRequest struct{ message }

// admit counts a request of a client that enters the inbox, or refuses it.
func (m *Master) admit() error {
	if limit := m.cfg.MaxRequests; m.clientRequests.Add(1) > int64(limit) {
		m.clientRequests.Add(-1)
		return m.tooMany(limit, "requests wait for an answer")
	}
	return nil
}
