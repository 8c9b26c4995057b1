package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// traffic is the network card of a machine: it counts bytes, delays messages, and is cut off
// while the machine is away.
type traffic struct {
	received, sent atomic.Int64 // bytes
	delay          time.Duration
	reporting      atomic.Pointer[conn] // the connection that has sent the last report

	mu struct {
		sync.Mutex
		conns map[net.Conn]bool
	}
}

// addressOf returns the machine's address on the loopback network, whose addresses all lead
// to this computer. So masters see as many addresses as machines. They count connections of the whole
// network as of one caller, so their --max-connections-per-address is raised.
func addressOf(i int) net.IP { return net.IPv4(127, 77, byte(i/250), byte(i%250+1)) }

var errAway = errors.New("fleet: the machine has no network now")

// dialer returns a function that connects from the machine's own address.
func (m *machine) dialer(i int) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: addressOf(i)}}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if time.Now().UnixNano() < m.away.Load() {
			return nil, fmt.Errorf("%s: %w", m.name, errAway)
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return m.traffic.track(conn), nil
	}
}

// conn is a connection whose bytes are counted.
type conn struct {
	net.Conn
	traffic *traffic

	arrived, reported atomic.Int64 // when bytes arrived, and when a report was sent last, ns since the epoch
}

// maxPing is what HTTP/2 sends at once without a report, in bytes: a PING frame has 17, and two
// WINDOW_UPDATE frames have 26. A heartbeat has 37.
const maxPing = 26

// silentSince returns since when the connection of the session passes nothing in one of the two directions.
func (t *traffic) silentSince() time.Time {
	if c := t.reporting.Load(); c != nil {
		return time.Unix(0, min(c.arrived.Load(), c.reported.Load()))
	}
	return time.Now()
}

func (t *traffic) track(c net.Conn) net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.conns == nil {
		t.mu.conns = make(map[net.Conn]bool)
	}
	tracked := &conn{Conn: c, traffic: t}
	t.mu.conns[tracked] = true
	return tracked
}

// cut closes all connections.
func (t *traffic) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.mu.conns {
		_ = c.(*conn).Conn.Close() // its users get the error
	}
	clear(t.mu.conns)
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.received.Add(int64(n))
	if n > 0 {
		c.arrived.Store(time.Now().UnixNano())
		time.Sleep(c.traffic.delay)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.traffic.sent.Add(int64(len(p)))
	if c.traffic.delay > 0 {
		time.Sleep(c.traffic.delay)
	}
	n, err := c.Conn.Write(p)
	if err == nil && n > maxPing {
		c.reported.Store(time.Now().UnixNano())
		c.traffic.reporting.Store(c)
	}
	return n, err
}

func (c *conn) Close() error {
	c.traffic.mu.Lock()
	delete(c.traffic.mu.conns, c)
	c.traffic.mu.Unlock()
	return c.Conn.Close()
}
