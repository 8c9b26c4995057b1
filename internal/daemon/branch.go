package daemon

import (
	"net"
	"sync"
)

// branch is a listener that is given its connections.
type branch struct {
	address net.Addr
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func newBranch(address net.Addr) *branch {
	return &branch{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// put hands a connection to whoever accepts; it does not once closed.
func (b *branch) put(conn net.Conn) bool {
	select {
	case b.conns <- conn:
		return true
	case <-b.closed:
		return false
	}
}

// Accept implements net.Listener.
func (b *branch) Accept() (net.Conn, error) {
	select {
	case conn := <-b.conns:
		return conn, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (b *branch) Addr() net.Addr { return b.address }

// Close implements net.Listener.
func (b *branch) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}
