// Package syncutil has what package sync lacks: Mailbox, a queue whose sender never
// waits; Group, goroutines that a Close waits for and then refuses; and Sleep, which
// ends with a context.
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
