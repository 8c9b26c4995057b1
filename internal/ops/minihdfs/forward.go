package minihdfs

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// forwarder forwards the connections of one DataNode to the NameNode, with the DataNode's
// address as their source. It has one goroutine that accepts and two for each connection;
// close waits for all of them.
//
//	DataNode ──► host:8020 (listener) ── carry ──► NameNode:8020
//	                                    source address: host
type forwarder struct {
	listener net.Listener
	dialer   net.Dialer
	target   string
	running  sync.WaitGroup

	mu struct {
		sync.Mutex
		closed bool
		conns  map[net.Conn]struct{}
	}
}

// forward listens on host, a literal address, and dials target from it.
func forward(host, target string) (*forwarder, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, rpcPort))
	if err != nil {
		return nil, fmt.Errorf("minihdfs: forwarder of %s: %w", host, err)
	}
	f := &forwarder{listener: l, target: target}
	f.dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(host)}
	f.mu.conns = map[net.Conn]struct{}{}
	f.running.Go(f.accept)
	return f, nil
}

// accept runs until the listener is closed.
func (f *forwarder) accept() {
	for {
		in, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.running.Go(func() { f.carry(in) })
	}
}

// carry copies both directions of a connection until either side ends.
func (f *forwarder) carry(in net.Conn) {
	defer in.Close()
	if !f.add(in) {
		return
	}
	defer f.remove(in)
	out, err := f.dialer.Dial("tcp", f.target)
	if err != nil {
		return // the DataNode retries when its connection ends
	}
	defer out.Close()
	if !f.add(out) {
		return
	}
	defer f.remove(out)
	back := make(chan struct{})
	go func() {
		defer close(back)
		io.Copy(in, out)
		in.Close()
	}()
	io.Copy(out, in)
	out.Close()
	<-back
}

// add records a connection, so that close can end it. It reports false after close.
func (f *forwarder) add(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.closed {
		return false
	}
	f.mu.conns[c] = struct{}{}
	return true
}

// remove forgets a connection that has ended.
func (f *forwarder) remove(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.conns, c)
}

// close ends all connections and returns when no goroutine is left.
func (f *forwarder) close() {
	f.listener.Close()
	f.mu.Lock()
	f.mu.closed = true
	for c := range f.mu.conns {
		c.Close()
	}
	f.mu.Unlock()
	f.running.Wait()
}
