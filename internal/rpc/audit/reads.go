package audit

import (
	"net"
	"sync"
	"time"
)

const (
	readInterval = time.Minute // a further read of the same object by the same caller has no line for so long
	maxReads     = 4096        // objects and callers that are remembered; beyond them lines may be repeated
)

// Reads chooses the reads that get a line: a page that follows a log reads it each second. The zero
// value is ready.
type Reads struct {
	mu struct {
		sync.Mutex
		seen map[read]time.Time // at most maxReads
	}
}

// read is what one caller reads, without the port of its connection.
type read struct{ who, host, call, object string }

// First reports whether a read gets a line.
func (s *Reads) First(r *Record, now time.Time) bool {
	key := read{r.Who, r.From, r.Call, r.Object}
	if host, _, err := net.SplitHostPort(r.From); err == nil {
		key.host = host
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, known := s.mu.seen[key]; known && now.Sub(at) < readInterval {
		return false
	}
	if s.mu.seen == nil || len(s.mu.seen) >= maxReads {
		s.mu.seen = make(map[read]time.Time)
	}
	s.mu.seen[key] = now
	return true
}
