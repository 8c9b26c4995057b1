// Package mailbox is a queue between goroutines that never makes the sender
// wait. It is for messages whose number is bounded by something else.
package mailbox

import "sync"

// Mailbox is a queue of messages. Any goroutine may put; one takes:
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

// New makes an empty mailbox.
func New[T any]() *Mailbox[T] { return &Mailbox[T]{ready: make(chan struct{}, 1)} }

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

// Ready yields a token when messages have come since the last Take.
func (b *Mailbox[T]) Ready() <-chan struct{} { return b.ready }

// Take takes all messages, in order; nil when there are none.
func (b *Mailbox[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.mu.queue
	b.mu.queue = nil
	return taken
}
