package syncutil

import (
	"sync"
	"time"
)

// Throttle lets one event through in each second and counts the others, so that a caller that
// repeats a refused request cannot fill the log. The zero value is ready. Any goroutine may use
// it.
type Throttle struct {
	mu struct {
		sync.Mutex
		due     time.Time // when the next event is let through
		skipped int64     // events since the last one that was let through
	}
}

// Allow reports whether an event is let through, and how many were not since the last one that
// was.
func (t *Throttle) Allow() (skipped int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.mu.due) {
		t.mu.skipped++
		return 0, false
	}
	skipped, t.mu.skipped, t.mu.due = t.mu.skipped, 0, now.Add(time.Second)
	return skipped, true
}
