package hdfs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// errNotRPC means that the server at a port uses another protocol than the NameNode's.
var errNotRPC = errors.New("the port does not speak the NameNode's protocol; the RPC port is often 8020 or 9000, not that of its web page")

// guardedConn sets a deadline for each operation and fails permanently after the first
// error. Otherwise the hdfs module would wait forever for a suspended daemon, or would take
// its late answer for the answer to a later call. It ignores deadlines that the module sets,
// because they would override its own.
type guardedConn struct {
	net.Conn
	timeout time.Duration
	// handshake validates the first answer, a length. It is nil afterwards.
	handshake func([]byte) error
}

// Read waits for at most the timeout. It also validates the first answer of a NameNode.
func (c *guardedConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.Conn.Read(p)
	if err != nil {
		return n, c.fail(err)
	}
	if c.handshake != nil {
		if err := c.handshake(p[:n]); err != nil {
			return 0, c.fail(err) // if bytes were returned too, the module would report the error only in its next call
		}
		c.handshake = nil
	}
	return n, nil
}

// Write waits for at most the timeout.
func (c *guardedConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.Conn.Write(p)
	if err != nil {
		return n, c.fail(err)
	}
	return n, nil
}

// fail closes the connection, so that every later operation fails too.
func (c *guardedConn) fail(err error) error {
	c.Conn.Close()
	return err
}

// The deadlines that the module sets have no effect.
func (c *guardedConn) SetDeadline(time.Time) error      { return nil }
func (c *guardedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *guardedConn) SetWriteDeadline(time.Time) error { return nil }

// checkLength refuses a first answer that is not a plausible length of an RPC packet. The
// module would allocate up to 4 GiB for it. The error shows the four bytes: "HTTP", for
// example, identifies the protocol.
func checkLength(p []byte) error {
	const limit = 128 << 20 // ipc.maximum.response.length
	if len(p) >= 4 && binary.BigEndian.Uint32(p) > limit {
		return fmt.Errorf("%w: it says %q", errNotRPC, p[:4])
	}
	return nil
}

// dialFunc is the function that the HDFS module calls to connect.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialer returns a dialer that uses LocalAddress. The timeout bounds only the connecting;
// guardedConn bounds later operations.
func (c *Config) dialer(timeout time.Duration) *net.Dialer {
	d := &net.Dialer{Timeout: timeout}
	if c.LocalAddress != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.LocalAddress)}
	}
	return d
}

// dialNameNode returns the dial function for RPC connections. The module takes a new connection
// for each client.
func (c *Config) dialNameNode() dialFunc {
	d := c.dialer(c.NameNodeTimeout)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &guardedConn{Conn: conn, timeout: c.NameNodeTimeout, handshake: checkLength}, nil
	}
}

// dialDataNode returns the dial function for readers.
func (c *Config) dialDataNode() dialFunc {
	d := c.dialer(c.DataNodeTimeout)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		forgetFailures(c.PenaltyTimeout)
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newBufferedConn(&guardedConn{Conn: conn, timeout: c.DataNodeTimeout}), nil
	}
}

// headBuffer holds the header and the checksums of a packet of 64 KiB or 128 KiB.
const headBuffer = 2 << 10

// bufferedConn reads the small parts of a packet, which the module requests one by one, with
// one system call. The data of a packet mostly passes by the buffer.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

// newBufferedConn returns a connection that reads from conn with a buffer.
func newBufferedConn(conn net.Conn) *bufferedConn {
	return &bufferedConn{Conn: conn, r: bufio.NewReaderSize(conn, headBuffer)}
}

// Read implements io.Reader.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// dialPipeline returns the dial function for pipelines, which set no deadlines: package pipeline
// bounds every wait.
func (c *Config) dialPipeline() pipeline.DialFunc {
	return c.dialer(c.WriteTimeout).DialContext
}
