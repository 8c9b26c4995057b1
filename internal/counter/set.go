package counter

import "sync"

// Set is the counters of one attempt. The zero value is ready for use and has
// no limit.
type Set struct {
	mu struct {
		sync.Mutex
		counters map[ID]*Counter
		users    int // counters in the user's groups
		refused  int // look-ups that the limit refused
		limit    int // of users; 0 stands for none
		overflow Counter
	}
}

// Limit bounds the counters of the user's groups from now on; n must be above
// 0. A user's counter beyond it is not kept: Counter returns one that counts
// for nobody, and Err tells. So a program that counts under names taken from
// its data meets an error and not the end of the memory.
func (s *Set) Limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.limit = n
}

// Err is an error that wraps ErrLimit once the limit refused a counter.
func (s *Set) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.refused == 0 {
		return nil
	}
	return checkLimit(s.mu.users+1, s.mu.limit)
}

// Counter returns the counter named id, making it at 0 when it is new.
func (s *Set) Counter(id ID) *Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.mu.counters[id]; c != nil {
		return c
	}
	if id.user() {
		if s.mu.limit > 0 && s.mu.users >= s.mu.limit {
			s.mu.refused++
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
