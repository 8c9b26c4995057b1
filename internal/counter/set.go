package counter

import (
	"errors"
	"fmt"
	"sync"
)

// ErrLimit marks a job that has more counters of its own than it may.
var ErrLimit = errors.New("too many counters")

func checkLimit(n, limit int) error {
	if limit < 0 || n <= limit {
		return nil
	}
	return fmt.Errorf("%w: %d, and mapreduce.job.counters.limit is %d; "+
		"count under fewer names (never under names taken from the data) or raise the limit",
		ErrLimit, n, limit)
}

// Set holds the counters of one attempt. The zero value is ready for use and has
// no limit.
type Set struct {
	mu struct {
		sync.Mutex
		counters map[ID]*Counter
		users    int // counters in groups of the user's
		refused  bool
		limit    int // users <= limit; 0: no limit
		overflow Counter
	}
}

// Limit bounds the counters in groups of the user's from now on; 0 removes the
// limit. Beyond it Counter returns a counter that is not kept, and Err returns an
// error. A program that counts under names taken from its data thus fails, instead
// of filling the memory.
func (s *Set) Limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.limit = n
}

// Err returns an error that wraps ErrLimit once the limit has refused a counter.
func (s *Set) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.refused {
		return nil
	}
	return checkLimit(s.mu.users+1, s.mu.limit)
}

// Counter returns the counter named id; a new one starts at 0.
func (s *Set) Counter(id ID) *Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.mu.counters[id]; c != nil {
		return c
	}
	if id.isUsers() {
		if s.mu.limit > 0 && s.mu.users >= s.mu.limit {
			s.mu.refused = true
			return &s.mu.overflow
		}
		s.mu.users++
	}
	if s.mu.counters == nil {
		s.mu.counters = make(map[ID]*Counter)
	}
	c := new(Counter)
	s.mu.counters[id] = c
	return c
}

// Add adds n to the counter named id.
func (s *Set) Add(id ID, n int64) { s.Counter(id).Add(n) }

// Values returns the current value of every counter of the set.
func (s *Set) Values() Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := make(Values)
	for id, c := range s.mu.counters {
		v.Add(id, c.Value())
	}
	return v
}
