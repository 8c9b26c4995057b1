package raftlog

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// inVirtualTime runs a test of masters in a synctest bubble: elections take no real time, and a
// busy machine delays none.
func inVirtualTime(t *testing.T, f func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, f)
}

// network connects masters in memory, since a bubble must not wait for real connections.
var network struct {
	ports     atomic.Int64
	listeners sync.Map // of *pipeStream, by address
}

// pipeStream listens at an address of network.
type pipeStream struct {
	address  advertised
	incoming chan net.Conn
	closed   chan struct{}
	end      func()
}

// listen returns a Stream at an address, or at a new one if it is empty.
func listen(address string) Stream {
	if address == "" {
		address = fmt.Sprintf("127.0.0.1:%d", 1+network.ports.Add(1))
	}
	s := &pipeStream{address: advertised(address), incoming: make(chan net.Conn), closed: make(chan struct{})}
	s.end = sync.OnceFunc(func() {
		network.listeners.CompareAndDelete(address, s)
		close(s.closed)
	})
	network.listeners.Store(address, s)
	return s
}

func (s *pipeStream) Addr() net.Addr { return s.address }

func (s *pipeStream) Close() error {
	s.end()
	return nil
}

func (s *pipeStream) Accept() (net.Conn, error) {
	select {
	case conn := <-s.incoming:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *pipeStream) Dial(address string, timeout time.Duration) (net.Conn, error) {
	to, ok := network.listeners.Load(address)
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: advertised(address), Err: syscall.ECONNREFUSED}
	}
	here, there := net.Pipe()
	select {
	case to.(*pipeStream).incoming <- pipeConn{there}:
		return pipeConn{here}, nil
	case <-to.(*pipeStream).closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: advertised(address), Err: syscall.ECONNREFUSED}
	case <-time.After(timeout):
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: advertised(address), Err: errors.New("timeout")}
	}
}

// pipeConn has the errors of a TCP connection.
type pipeConn struct{ net.Conn }

func (c pipeConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = net.ErrClosed
	}
	return n, err
}
