package hdfs

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Reads counts what readers do with the DataNodes on one host.
type Reads struct {
	Dials atomic.Int64 // connections tried
	Bytes atomic.Int64 // received
}

// ReadsFrom counts what readers of f do with the DataNodes on the given host after this call.
func (f *FS) ReadsFrom(host string) *Reads {
	n := new(Reads)
	dial := f.reads.options.DatanodeDialFunc
	f.reads.options.DatanodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		counted := strings.HasPrefix(address, host+":")
		if counted {
			n.Dials.Add(1)
		}
		conn, err := dial(ctx, network, address)
		if err == nil && counted {
			conn = &countingConn{conn, &n.Bytes}
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

// ForgetFailures ends the penalties of all DataNodes for readers of this process.
func ForgetFailures() { forgetFailures(0) }

// Suspects returns the hosts of the DataNodes that writers of f leave out.
func (f *FS) Suspects() (hosts []string) {
	for _, n := range f.suspects.list(time.Now()) {
		hosts = append(hosts, n.GetId().GetIpAddr())
	}
	return hosts
}

// Admin calls a method of the NameNode that this package does not use, as Hadoop's administration commands do. The
// fields of the request are in protobuf's text format.
func (f *FS) Admin(ctx context.Context, method, fields string) error {
	message := func(suffix string) (proto.Message, error) {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("hadoop.hdfs." + strings.ToUpper(method[:1]) + method[1:] + suffix))
		if err != nil {
			return nil, err
		}
		return kind.New().Interface(), nil
	}
	request, err := message("RequestProto")
	if err != nil {
		return err
	}
	response, err := message("ResponseProto")
	if err != nil {
		return err
	}
	if err := prototext.Unmarshal([]byte(fields), request); err != nil {
		return fmt.Errorf("request %s: %w", method, err)
	}
	return f.do(ctx, f.reads, method, "", func(c *session, _ int) error { return execute(c.Client, method, request, response) })
}
