package wait

import "sync"

// Group is goroutines that a Close waits for. It is a sync.WaitGroup that may be
// asked for another goroutine while somebody waits for it: it then refuses.
type Group struct {
	mu      sync.Mutex
	running sync.WaitGroup
	closed  bool
}

// Go runs f in a goroutine of the group. When the group is closed it does not, and
// returns false.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.running.Go(f)
	return true
}

// Close lets nothing more begin and waits for what runs.
func (g *Group) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
}
