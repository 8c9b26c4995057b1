// Package namenodetest has a NameNode without files, for tests of connections to NameNodes:
//
//	n := namenodetest.Start(t)
//	… hdfs://127.0.0.1:PORT and hdfs://127.0.0.2:PORT are different authorities of it
//	err := n.AwaitNone(ctx)
//
// It answers each call for the server's defaults, and denies the permission for all others.
package namenodetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// NameNode is a NameNode on all addresses of this machine. One goroutine accepts connections, and each
// has another one; they end with the test.
type NameNode struct {
	Port     int
	listener net.Listener
	all      sync.WaitGroup
	mu       struct {
		sync.Mutex
		open, seen int           // connections now, and since the start
		changed    chan struct{} // closed when a connection ends, and replaced
	}
}

// Start starts a NameNode, which ends with the test.
func Start(t testing.TB) *NameNode {
	t.Helper()
	l, err := net.Listen("tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	n := &NameNode{Port: l.Addr().(*net.TCPAddr).Port, listener: l}
	n.mu.changed = make(chan struct{})
	quit := make(chan struct{})
	n.all.Go(func() { n.accept(quit) })
	t.Cleanup(func() {
		close(quit)
		l.Close()
		n.all.Wait()
	})
	return n
}

// Open returns how many connections are open.
func (n *NameNode) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.open
}

// Seen returns how many connections were made.
func (n *NameNode) Seen() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.seen
}

// AwaitNone returns when no connection is open.
func (n *NameNode) AwaitNone(ctx context.Context) error {
	for {
		n.mu.Lock()
		open, changed := n.mu.open, n.mu.changed
		n.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d connections are open: %w", open, n.Seen(), ctx.Err())
		}
	}
}

// count adds to the connections that are open.
func (n *NameNode) count(change int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.open += change
	if change > 0 {
		n.mu.seen += change
		return
	}
	close(n.mu.changed)
	n.mu.changed = make(chan struct{})
}

// accept serves connections until quit is closed.
func (n *NameNode) accept(quit chan struct{}) {
	for {
		conn, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.count(1)
		ended := make(chan struct{})
		n.all.Go(func() {
			defer n.count(-1)
			defer close(ended)
			_ = serve(conn) // its end is what the test observes
			conn.Close()
		})
		n.all.Go(func() {
			select {
			case <-quit:
				conn.Close()
			case <-ended:
			}
		})
	}
}

// serve answers the calls of a connection.
func serve(conn net.Conn) error {
	r := bufio.NewReader(conn)
	if _, err := r.Discard(len("hrpc") + 3); err != nil {
		return err
	}
	for {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return err
		}
		packet := make([]byte, binary.BigEndian.Uint32(length[:])&0xffffff)
		if _, err := io.ReadFull(r, packet); err != nil {
			return err
		}
		header, size := protowire.ConsumeBytes(packet)
		if size < 0 {
			return errors.New("no header")
		}
		const callID, methodName = 3, 1
		id, _ := field(header, callID)
		call := protowire.DecodeZigZag(id)
		if call < 0 {
			continue // the context of the connection
		}
		request, _ := protowire.ConsumeBytes(packet[size:])
		_, method := field(request, methodName)
		if _, err := conn.Write(answer(uint64(call), string(method))); err != nil {
			return err
		}
	}
}

// field returns the value of a field of a message, as a number or as bytes.
func field(message []byte, number protowire.Number) (varint uint64, text []byte) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return 0, nil
		}
		message = message[size:]
		size = protowire.ConsumeFieldValue(n, kind, message)
		if size < 0 {
			return 0, nil
		}
		if n == number && kind == protowire.VarintType {
			varint, _ = protowire.ConsumeVarint(message)
			return varint, nil
		}
		if n == number && kind == protowire.BytesType {
			text, _ = protowire.ConsumeBytes(message)
			return 0, text
		}
		message = message[size:]
	}
	return 0, nil
}

// answer returns the answer to a call: RpcResponseHeaderProto, and GetServerDefaultsResponseProto if
// that was called.
func answer(call uint64, method string) []byte {
	header := numbers(nil, call)
	var body []byte
	if method == "getServerDefaults" {
		header = protowire.AppendVarint(protowire.AppendTag(header, 2, protowire.VarintType), 0) // SUCCESS
		defaults := numbers(nil, 128<<20, 512, 64<<10, 1, 4096)
		body = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), defaults)
		body = protowire.AppendBytes(nil, body)
	} else {
		header = protowire.AppendVarint(protowire.AppendTag(header, 2, protowire.VarintType), 1) // ERROR
		header = protowire.AppendString(protowire.AppendTag(header, 4, protowire.BytesType), "org.apache.hadoop.security.AccessControlException")
		header = protowire.AppendString(protowire.AppendTag(header, 5, protowire.BytesType), "this NameNode has no files")
	}
	packet := append(protowire.AppendBytes(nil, header), body...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...)
}

// numbers appends fields 1, 2, … with numbers.
func numbers(to []byte, values ...uint64) []byte {
	for i, v := range values {
		to = protowire.AppendVarint(protowire.AppendTag(to, protowire.Number(i+1), protowire.VarintType), v)
	}
	return to
}
