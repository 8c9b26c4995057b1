// Package syncutil has what packages sync and time lack: Mailbox, a queue whose sender
// never waits; Group, goroutines that a Close waits for and then refuses; and Sleep, Every
// and Poll, whose waits end with a context.
package syncutil

import "sync"

// Mailbox is an unbounded queue of messages between goroutines. Put never waits, so
// something else must bound the number of messages. Any goroutine may put; one takes:
//
//	select {
//	case <-box.Ready():
//		for _, m := range box.Take() { … }
//	…
type Mailbox[T any] struct {
	ready chan struct{} // holds a token when there may be messages
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
	default: // the token is there
	}
}

// Ready yields a token when messages were put since the last Take. A token may
// outlive its messages: Take then returns nil.
func (b *Mailbox[T]) Ready() <-chan struct{} { return b.ready }

// Take returns all messages in order and empties the mailbox; nil for none.
func (b *Mailbox[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.mu.queue
	b.mu.queue = nil
	return taken
}

// Group is a set of goroutines that Close waits for. Unlike a sync.WaitGroup, it allows a call
// of Go while Close waits, and refuses the goroutine. The zero Group is ready to use.
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
