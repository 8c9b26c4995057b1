// Package counter counts what a job does. Counters live in groups; groups and
// counters carry Hadoop's display names and are printed in Hadoop's order.
package counter

import (
	"sync"
	"sync/atomic"
)

// ID names a counter by the display names of its group and itself.
type ID struct {
	Group string
	Name  string
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

// Value is the present count.
func (c *Counter) Value() int64 { return c.value.Load() }

// Set is the counters of one attempt. The zero value is ready for use.
type Set struct {
	mu struct {
		sync.Mutex
		counters map[ID]*Counter
	}
}

// Counter returns the counter named id, making it at 0 when it is new.
func (s *Set) Counter(id ID) *Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mu.counters[id]
	if c == nil {
		if s.mu.counters == nil {
			s.mu.counters = make(map[ID]*Counter)
		}
		c = new(Counter)
		s.mu.counters[id] = c
	}
	return c
}

// Add adds n to the counter named id.
func (s *Set) Add(id ID, n int64) { s.Counter(id).Add(n) }

// Values is the present value of every counter of the set.
func (s *Set) Values() Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := make(Values)
	for id, c := range s.mu.counters {
		v.Add(id, c.Value())
	}
	return v
}

// Values is a snapshot of counters: group, then name, then count.
type Values map[string]map[string]int64

// Add adds n to one counter.
func (v Values) Add(id ID, n int64) {
	g := v[id.Group]
	if g == nil {
		g = make(map[string]int64)
		v[id.Group] = g
	}
	g[id.Name] += n
}

// Get is the count of id, 0 when it was never counted.
func (v Values) Get(id ID) int64 { return v[id.Group][id.Name] }

// AddAll adds every count of w to v.
func (v Values) AddAll(w Values) {
	for group, names := range w {
		for name, n := range names {
			v.Add(ID{group, name}, n)
		}
	}
}
