package pipeline

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// DialFunc connects to a DataNode.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Config configures the pipelines of a client.
type Config struct {
	// ClientName is the name by which the NameNode knows the writer of the file. Required.
	ClientName string
	// Dial connects to a DataNode without authentication. Required.
	Dial DialFunc
	// Secure adds the authentication and protection that the cluster demands to a dial
	// function. Nil means that the cluster demands none.
	Secure func(dial DialFunc, token []byte) (DialFunc, error)
	// UseHostname connects to DataNodes by host name instead of address.
	UseHostname bool
	// ProbeTimeout is the silence after which the DataNodes are probed, and the time in which
	// they must answer a probe. Required.
	ProbeTimeout time.Duration
	// Timeout bounds the silence of a pipeline whose DataNodes all answer probes. Required.
	Timeout time.Duration
}

// address returns the host:port of a DataNode for block data.
func (c *Config) address(n *DatanodeInfo) string {
	host := n.GetId().GetIpAddr()
	if c.UseHostname {
		host = n.GetId().GetHostName()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(n.GetId().GetXferPort())))
}

// Error reports that a pipeline failed.
type Error struct {
	Nodes []*DatanodeInfo // the DataNodes to leave out, at least one
	Cause error
}

// Error implements error.
func (e *Error) Error() string {
	names := make([]string, len(e.Nodes))
	for i, n := range e.Nodes {
		names[i] = net.JoinHostPort(n.GetId().GetIpAddr(), strconv.Itoa(int(n.GetId().GetXferPort())))
	}
	return "pipeline failed at DataNode " + strings.Join(names, ", ") + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
