package raftlog

import "sync"

// tasks are goroutines that Close waits for.
type tasks struct {
	running sync.WaitGroup
	mu      struct {
		sync.Mutex
		closed bool
	}
}

// start runs f in a goroutine, and reports false when it is too late for that.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.closed {
		return false
	}
	t.running.Go(f)
	return true
}

// wait lets nothing more start and waits for what runs.
func (t *tasks) wait() {
	t.mu.Lock()
	t.mu.closed = true
	t.mu.Unlock()
	t.running.Wait()
}
