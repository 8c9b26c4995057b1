package daemon

import (
	"container/list"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// boundedConn is a connection of a Listener. It implements httpserver.Conn.
type boundedConn struct {
	*net.TCPConn
	listener   *Listener
	address    netip.Addr  // of the peer
	identified atomic.Bool // set once, under listener.mu

	// state is guarded by listener.mu.
	state struct {
		source   *source       // nil once the connection is not counted anymore
		timer    *time.Timer   // calls expire
		retained int           // calls of Retain that are not released
		inAll    *list.Element // of the listener's strangers; nil unless this is one
		inSource *list.Element // of the source's strangers; nil unless this is one
	}
}

// Close implements net.Conn. The first call ends the count of the connection.
func (c *boundedConn) Close() error {
	c.listener.mu.Lock()
	c.releaseLocked()
	c.listener.mu.Unlock()
	return c.TCPConn.Close()
}

// Identified implements httpserver.Conn.
func (c *boundedConn) Identified() bool { return c.identified.Load() }

// Identify implements httpserver.Conn.
func (c *boundedConn) Identify() {
	if c.identified.Load() {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.identified.Store(true)
	c.delistLocked()
}

// Retain implements httpserver.Conn.
func (c *boundedConn) Retain() (release func()) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.state.retained++
	c.delistLocked()
	return func() {
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		if c.state.retained--; c.state.retained == 0 && c.state.source != nil && !c.identified.Load() {
			c.state.timer.Reset(c.listener.mu.limits.IdentityTimeout)
			c.enlistLocked()
		}
	}
}

// expire closes the connection of a stranger whose time is over.
func (c *boundedConn) expire() {
	c.listener.mu.Lock()
	stranger := c.state.inAll != nil
	c.listener.mu.Unlock()
	if stranger {
		_ = c.Close() // its peer gets no answer
	}
}

// enlistLocked makes the connection the youngest stranger.
func (c *boundedConn) enlistLocked() {
	c.state.inAll = c.listener.mu.strangers.PushBack(c)
	c.state.inSource = c.state.source.strangers.PushBack(c)
}

// delistLocked makes the connection no stranger, if it is one.
func (c *boundedConn) delistLocked() {
	if c.state.inAll == nil {
		return
	}
	c.state.timer.Stop()
	c.listener.mu.strangers.Remove(c.state.inAll)
	c.state.source.strangers.Remove(c.state.inSource)
	c.state.inAll, c.state.inSource = nil, nil
}

// releaseLocked ends the count of the connection at its first call.
func (c *boundedConn) releaseLocked() {
	if c.state.source == nil {
		return
	}
	c.delistLocked()
	c.state.timer.Stop()
	c.listener.mu.open--
	if c.state.source.open--; c.state.source.open == 0 {
		delete(c.listener.mu.sources, httpserver.SourceOf(c.address))
	}
	c.state.source = nil
}
