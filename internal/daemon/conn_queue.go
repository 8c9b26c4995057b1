package daemon

import (
	"net"
	"sync"
)

// connQueue is a net.Listener that returns connections which a Port has accepted.
type connQueue struct {
	address net.Addr
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func newConnQueue(address net.Addr) *connQueue {
	return &connQueue{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// deliver passes a connection to Accept. After Close it drops the connection and returns
// false.
func (b *connQueue) deliver(conn net.Conn) bool {
	select {
	case b.conns <- conn:
		return true
	case <-b.closed:
		return false
	}
}

// Accept implements net.Listener.
func (b *connQueue) Accept() (net.Conn, error) {
	select {
	case conn := <-b.conns:
		return conn, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (b *connQueue) Addr() net.Addr { return b.address }

// Close implements net.Listener.
func (b *connQueue) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}
