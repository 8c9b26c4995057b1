// Package counter counts events and bytes of a job. Counters belong to groups. Groups and
// counters have Hadoop's display names and are printed in Hadoop's order.
//
// An attempt has a Set. It looks up each Counter once, keeps the pointer, and adds to it
// from any goroutine. Attempts send snapshots of their sets (Values) to the jobmaster, which
// adds up the snapshots of the attempts that succeed. At the end FillZeros and String turn
// the sum into the listing that the user sees.
//
// names.go declares the engine's own counters, one line each. All other groups belong to the
// user, and mapreduce.job.counters.limit bounds their counters: Set.Limit applies it to an
// attempt, Values.CheckLimit to the job.
package counter

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// ID names a counter by the display names of its group and itself.
type ID struct {
	Group string
	Name  string
}

// isUsers reports whether the counter is in a user's group, not in one of the engine's.
func (id ID) isUsers() bool {
	_, engine := groupRank[id.Group]
	return !engine
}

// Counter is one number that any goroutine may add to.
type Counter struct{ value atomic.Int64 }

// Add adds n, which may be negative.
func (c *Counter) Add(n int64) { c.value.Add(n) }

// Max raises the counter to n if it is lower.
func (c *Counter) Max(n int64) {
	for old := c.value.Load(); n > old; old = c.value.Load() {
		if c.value.CompareAndSwap(old, n) {
			return
		}
	}
}

// Value returns the current count.
func (c *Counter) Value() int64 { return c.value.Load() }

// ErrLimit marks a job that has more user counters than its limit.
var ErrLimit = errors.New("too many counters")

func checkLimit(n, limit int) error {
	if limit < 0 || n <= limit {
		return nil
	}
	return fmt.Errorf("%w: %d, and mapreduce.job.counters.limit is %d; "+
		"count under fewer names (never under names taken from the data) or raise the limit",
		ErrLimit, n, limit)
}

// Set holds the counters of one attempt. The zero value is ready for use and has no limit.
type Set struct {
	mu struct {
		sync.Mutex
		counters map[ID]*Counter // nil before the first
		users    int             // number of counters in users' groups
		refused  bool            // the limit has refused a counter
		limit    int             // maximum of users; 0: no limit
		overflow Counter         // replaces every counter that was refused
	}
}

// Limit sets the maximum number of counters in users' groups; 0 removes the limit. Beyond it
// Counter returns a counter that is not kept, and Err returns an error. A program that takes
// counter names from its data thus fails, instead of filling the memory.
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
