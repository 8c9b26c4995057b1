// Package syncutil adds to packages sync and time. Mailbox is a queue whose sender never
// waits. Group is a set of goroutines; Close waits for them and refuses new goroutines.
// Sleep, Every and Poll stop waiting when a context ends.
package syncutil

import "sync"

// Mailbox is an unbounded queue of messages between goroutines. Put never waits, so the
// users of a Mailbox must bound the number of messages. Any goroutine may call Put; one
// goroutine calls Take:
//
//	select {
//	case <-box.Ready():
//		for _, m := range box.Take() { … }
//	…
type Mailbox[T any] struct {
	ready chan struct{} // contains a token when there may be messages
	mu    struct {
		sync.Mutex
		queue []T
	}
}

// NewMailbox makes an empty mailbox.
func NewMailbox[T any]() *Mailbox[T] { return &Mailbox[T]{ready: make(chan struct{}, 1)} }

// Put appends a message.
func (b *Mailbox[T]) Put(m T) {
	b.mu.Lock()
	b.mu.queue = append(b.mu.queue, m)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default: // ready already contains a token
	}
}

// Ready yields a token when messages were put since the last Take. A token may still be
// there after its messages were taken. Take then returns nil.
func (b *Mailbox[T]) Ready() <-chan struct{} { return b.ready }

// Take returns all messages in order and empties the mailbox. It returns nil if there are
// none.
func (b *Mailbox[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.mu.queue
	b.mu.queue = nil
	return taken
}

// Len returns how many messages wait.
func (b *Mailbox[T]) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.mu.queue)
}

// Group is a set of goroutines for which Close waits. Unlike sync.WaitGroup, it allows calls
// of Go while Close waits, but does not start their goroutines. The zero Group is ready to
// use.
type Group struct {
	running sync.WaitGroup
	mu      struct {
		sync.Mutex
		closed bool
	}
}

// Go runs f in a goroutine of the group. After Close it returns false and does not run f.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.closed {
		return false
	}
	g.running.Go(f)
	return true
}

// Close refuses further goroutines and waits for the running ones.
func (g *Group) Close() {
	g.mu.Lock()
	g.mu.closed = true
	g.mu.Unlock()
	g.running.Wait()
}
