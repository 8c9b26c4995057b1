package task

import "sync"

// leastMemory is the least that borrow returns, in bytes.
const leastMemory = 1 << 20

// memory divides the memory of an attempt, a slot's for each of its Nodes, among the ends of
// edges that are files: collectors, which write, and intakes, which read. Each end gets an
// equal part of what is free, for itself and each end that is not open yet. It returns its
// part when it closes, so that a reader that has finished its side input gets all for the
// main one.
type memory struct {
	mu struct {
		sync.Mutex
		free int64 // bytes
		ends int   // number of ends that have not been opened
	}
}

// newMemory divides bytes among a number of ends, none of which is open.
func newMemory(bytes int64, ends int) *memory {
	m := new(memory)
	m.mu.free, m.mu.ends = bytes, ends
	return m
}

// borrow takes memory for a number of ends that are opened as one.
func (m *memory) borrow(ends int) (bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.ends < ends { // opened again: others may be too
		m.mu.ends = 2 * ends
	}
	bytes = max(m.mu.free/int64(m.mu.ends)*int64(ends), leastMemory)
	m.mu.free -= bytes
	m.mu.ends -= ends
	return bytes
}

// giveBack returns what borrow returned.
func (m *memory) giveBack(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.free += bytes
}
