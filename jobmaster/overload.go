package jobmaster

import (
	"context"
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
// A refused request has had no effect. Large answers need much memory and many messages of the
// loop, so maxLargeAnswers are made at once and the others wait.

// Reports of a tasknode that wait in the inbox share maxReports tokens. A report takes one token,
// and one more for each reportShare bytes. So long reports of a tasknode take at most 16 MB.
const (
	maxReports  = 1000
	reportShare = 16 << 10
)

// maxLargeAnswers is how many statuses with tasks, and lists with retired jobs, are made at the
// same time. A job of a million tasks has a status of some hundred MiB.
const maxLargeAnswers = 4

// startLargeAnswer waits until fewer than maxLargeAnswers are being made. The caller calls
// release when its answer is made.
func (m *Master) startLargeAnswer(ctx context.Context) (release func(), err error) {
	select {
	case m.largeAnswers <- struct{}{}:
		return func() { <-m.largeAnswers }, nil
	case <-m.stopped:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

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
