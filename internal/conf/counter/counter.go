// Package counter counts events and bytes of a job. Counters belong to groups. Groups and
// counters have Hadoop's display names and are printed in Hadoop's order.
//
// An attempt has a Set. It looks up each Counter once, keeps the pointer, and adds to it
// from any goroutine. Attempts send snapshots of their sets (Values) to the jobmaster, which
// adds up the snapshots of the attempts that succeed. At the end FillZeros and String turn
// the sum into the listing that the user sees.
//
// names.go declares the engine's own counters, one line each. All other groups belong to the
// user and have Limits: Set.Limit applies them to an attempt, Values.CheckLimit the number of
// counters to the job.
package counter

import (
	"errors"
	"fmt"
	"math"
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

// Counter is one number that any goroutine may add to. A count beyond an int64 is shown as the
// nearest int64.
//
//	the exact count = value + wraps·2⁶⁴
type Counter struct {
	value atomic.Int64
	wraps atomic.Int64
}

// Add adds n, which may be negative.
func (c *Counter) Add(n int64) {
	if now := c.value.Add(n); (now < now-n) != (n < 0) {
		if n < 0 {
			c.wraps.Add(-1)
		} else {
			c.wraps.Add(1)
		}
	}
}

// Max raises the counter to n if it is lower.
func (c *Counter) Max(n int64) {
	for old := c.value.Load(); n > old; old = c.value.Load() {
		if c.value.CompareAndSwap(old, n) {
			return
		}
	}
}

// Value returns the current count, or the nearest int64.
func (c *Counter) Value() int64 {
	n, _ := c.Exact()
	return n
}

// Exact returns the current count, or the nearest int64 and false if it does not fit an int64.
func (c *Counter) Exact() (n int64, exact bool) {
	switch wraps := c.wraps.Load(); {
	case wraps > 0:
		return math.MaxInt64, false
	case wraps < 0:
		return math.MinInt64, false
	}
	return c.value.Load(), true
}

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

// Limits bound the counters in users' groups of an attempt. 0 is no limit.
type Limits struct {
	Counters   int // mapreduce.job.counters.limit
	Groups     int // mapreduce.job.counters.groups.max
	NameBytes  int // length of the name of a counter: mapreduce.job.counters.counter.name.max
	GroupBytes int // length of the name of a group: mapreduce.job.counters.group.name.max
}

// exceeded returns an error if a limit does not allow n of what.
func exceeded(n, limit int, what, property string, id ID) error {
	if limit <= 0 || n <= limit {
		return nil
	}
	return fmt.Errorf("%w: counter %.80q of group %.80q is beyond the limit: %s %d, and %s is %d; "+
		"count under fewer names (never under names taken from the data) or raise the limit", ErrLimit, id.Name, id.Group, what, n, property, limit)
}

// Set holds the counters of one attempt. The zero value is ready for use and has no limit.
type Set struct {
	mu struct {
		sync.Mutex
		counters map[ID]*Counter // nil before the first
		users    int             // number of counters in users' groups
		groups   map[string]bool // users' groups
		refused  error           // why the limits have refused a counter; nil if they have not
		limits   Limits
		overflow Counter // replaces every counter that was refused
	}
}

// Limit sets the limits on counters in users' groups. Beyond them Counter returns a counter
// that is not kept, and Err returns an error. A program that takes counter names from its data
// thus fails, instead of filling the memory.
func (s *Set) Limit(limits Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.limits = limits
}

// Err returns an error that wraps ErrLimit once the limits have refused a counter. It names
// the first counter that was refused.
func (s *Set) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.refused
}

// checkNewLocked returns an error if the limits do not allow a new counter in a user's group. It
// names every limit that is exceeded.
func (s *Set) checkNewLocked(id ID) error {
	l, groups := s.mu.limits, len(s.mu.groups)
	if !s.mu.groups[id.Group] {
		groups++
	}
	return errors.Join(
		exceeded(len(id.Group), l.GroupBytes, "bytes in the name of its group:", "mapreduce.job.counters.group.name.max", id),
		exceeded(len(id.Name), l.NameBytes, "bytes in its name:", "mapreduce.job.counters.counter.name.max", id),
		exceeded(groups, l.Groups, "number of groups:", "mapreduce.job.counters.groups.max", id),
		exceeded(s.mu.users+1, l.Counters, "number of counters:", "mapreduce.job.counters.limit", id),
	)
}

// Counter returns the counter named id; a new one starts at 0.
func (s *Set) Counter(id ID) *Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.mu.counters[id]; c != nil {
		return c
	}
	if id.isUsers() {
		if s.mu.refused == nil { // a program may ask for a new name at each record
			s.mu.refused = s.checkNewLocked(id)
		}
		if s.mu.refused != nil {
			return &s.mu.overflow
		}
		s.mu.users++
		if s.mu.groups == nil {
			s.mu.groups = make(map[string]bool)
		}
		s.mu.groups[id.Group] = true
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
