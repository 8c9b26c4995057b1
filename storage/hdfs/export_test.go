package hdfs

import (
	"context"
	"net"
	"sync/atomic"
)

// ReadsFrom counts the bytes that f receives from the DataNodes on the given host after this
// call.
func (f *FS) ReadsFrom(host string) *atomic.Int64 {
	n := new(atomic.Int64)
	dial := f.reads.options.DatanodeDialFunc
	f.reads.options.DatanodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if h, _, _ := net.SplitHostPort(address); err == nil && h == host {
			conn = &countingConn{conn, n}
		}
		return conn, err
	}
	for i := range f.reads.slots { // existing clients have the previous function
		slot := &f.reads.slots[i]
		slot.Lock()
		s := slot.current
		slot.Unlock()
		if s != nil {
			s.retire()
		}
	}
	return n
}

type countingConn struct {
	net.Conn
	n *atomic.Int64
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}
