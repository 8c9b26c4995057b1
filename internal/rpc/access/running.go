package access

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	maxQueue    = 8               // waiting requests of a session, as a multiple of those that run
	maxQueued   = 5 * time.Second // how long a request waits
	streamRatio = 4               // streams of a session, as a multiple of its requests
)

// running bounds the requests of a session that run at the same time. Further ones wait: a browser
// may ask for all files of a page at once.
type running struct {
	mu struct {
		sync.Mutex
		sessions map[string]*slots // those with requests
	}
}

// slots are all of one session.
type slots struct {
	used     chan struct{} // has an element for each request that runs
	requests int           // that run or wait; at least 1
}

// slot is that of one request.
type slot struct {
	leave func()
	kept  bool // the request has not ended with its handler
}

// end is called after the handler.
func (s *slot) end() {
	if !s.kept {
		s.leave()
	}
}

func newRunning() *running {
	r := new(running)
	r.mu.sessions = make(map[string]*slots)
	return r
}

// enter waits for a slot of a session with limit slots. The caller calls leave at the end, unless
// there is a refusal.
func (r *running) enter(ctx context.Context, session string, limit int) (leave func(), refusal *Refusal) {
	r.mu.Lock()
	s := r.mu.sessions[session]
	if s == nil {
		s = &slots{used: make(chan struct{}, limit)}
		r.mu.sessions[session] = s
	}
	if s.requests >= limit*(1+maxQueue) {
		r.mu.Unlock()
		return nil, tooManyRequests()
	}
	s.requests++
	r.mu.Unlock()

	select {
	case s.used <- struct{}{}:
		return func() { <-s.used; r.forget(session, s) }, nil
	default:
	}
	timer := time.NewTimer(maxQueued)
	defer timer.Stop()
	select {
	case s.used <- struct{}{}:
		return func() { <-s.used; r.forget(session, s) }, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	r.forget(session, s)
	return nil, tooManyRequests()
}

// forget counts the end of a request.
func (r *running) forget(session string, s *slots) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.requests--; s.requests == 0 {
		delete(r.mu.sessions, session)
	}
}

func tooManyRequests() *Refusal {
	return &Refusal{
		Status: http.StatusTooManyRequests, RetryAfter: time.Second,
		Text: "too many requests of this session run at the same time; wait for the answers to the others",
	}
}

// isStream reports whether a request asks for server-sent events.
func isStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}
