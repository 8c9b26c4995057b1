package raftlog

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Stream carries connections between masters. An implementation may wrap them, for
// example with TLS, or share a port with other protocols.
type Stream interface {
	net.Listener
	// Dial connects to another master.
	Dial(address string, timeout time.Duration) (net.Conn, error)
}

// streamLayer adapts a Stream to Raft. It records all connections, so that closing it ends
// every read.
//
// Raft keeps connections open and reads from them in goroutines that it does not end itself.
// A server that closes must end those reads. A leader with a stalled disk must stop its
// heartbeats.
type streamLayer struct {
	Stream
	advertise advertised
	mu        struct {
		sync.Mutex
		closed bool
		open   map[*trackedConn]struct{}
	}
}

func newStreamLayer(s Stream, advertise string) *streamLayer {
	l := &streamLayer{Stream: s, advertise: advertised(advertise)}
	l.mu.open = make(map[*trackedConn]struct{})
	return l
}

// Addr returns the advertised address.
func (l *streamLayer) Addr() net.Addr { return l.advertise }

func (l *streamLayer) Accept() (net.Conn, error) {
	conn, err := l.Stream.Accept()
	if err != nil {
		return nil, err
	}
	return l.track(conn)
}

func (l *streamLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	conn, err := l.Stream.Dial(string(address), timeout)
	if err != nil {
		return nil, err
	}
	return l.track(conn)
}

// track records a connection until it is closed. After Close it closes new connections at
// once.
func (l *streamLayer) track(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	tracked := &trackedConn{Conn: conn, layer: l}
	l.mu.open[tracked] = struct{}{}
	return tracked, nil
}

// Close closes the listener and every open connection. It calls Close of the inner
// connections, because Close of trackedConn takes the lock.
func (l *streamLayer) Close() error {
	err := l.Stream.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.closed = true
	for conn := range l.mu.open {
		conn.Conn.Close()
	}
	return err
}

type trackedConn struct {
	net.Conn
	layer *streamLayer
}

// Read returns io.EOF if this server has closed the connection, as if the peer had closed
// it.
func (c *trackedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, net.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

func (c *trackedConn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.mu.open, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}

// advertised is the address that other masters use, as a net.Addr.
type advertised string

func (advertised) Network() string  { return "tcp" }
func (a advertised) String() string { return string(a) }
