package syncutil

import "sync"

// Group is a set of goroutines that Close waits for. Unlike a sync.WaitGroup, it may
// be asked for another goroutine while Close waits: it refuses. The zero Group is
// ready to use.
type Group struct {
	running sync.WaitGroup
	mu      struct {
		sync.Mutex
		closed bool
	}
}

// Go runs f in a goroutine of the group. After Close it returns false and does not.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.closed {
		return false
	}
	g.running.Go(f)
	return true
}

// Close refuses further goroutines and waits for those that run.
func (g *Group) Close() {
	g.mu.Lock()
	g.mu.closed = true
	g.mu.Unlock()
	g.running.Wait()
}
