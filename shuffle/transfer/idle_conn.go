package transfer

import (
	"net"
	"time"
)

// idleConn is a connection on which every read and write has a deadline of its
// own, so that a peer may be slow but not silent.
type idleConn struct {
	net.Conn
	idle time.Duration
}

func (c *idleConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write also gives the answer its time: net/http has a read under way on a
// connection that waits for its next request.
func (c *idleConn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
