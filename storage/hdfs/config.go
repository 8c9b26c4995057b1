package hdfs

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/login"
	"github.com/hammr/hammr/internal/kit/meminfo"
)

// Config configures the connection to a cluster. Zero times and sizes mean their defaults.
type Config struct {
	// Addresses are the host:port of the NameNodes' RPC endpoints; the default port is 8020.
	// Several addresses are the members of one HA pair. Required.
	Addresses []string
	// URI names the cluster in paths and errors. Default "hdfs://" and the first address.
	URI string
	// User is the user name if Kerberos is off. Default $HADOOP_USER_NAME, else the user of
	// the process.
	User string
	// Kerberos is nil if the cluster does not use it.
	Kerberos *Kerberos
	// DataTransferProtection is "" or one of Protections, with the meaning of
	// dfs.data.transfer.protection.
	DataTransferProtection string
	// UseDatanodeHostname has the meaning of dfs.client.use.datanode.hostname.
	UseDatanodeHostname bool
	// LocalAddress is the source address of connections; HDFS uses it to determine which
	// replicas are local. Default: chosen by the system.
	LocalAddress string
	// Replication and BlockSize (bytes) apply to files created without them. Default: the
	// NameNode's values.
	Replication int
	BlockSize   int64

	// Connections is the number of clients for reading. There are as many for writing. Each
	// renews its leases every second. Default 2.
	Connections int
	// IdleTimeout is the time after which a client without calls and open files closes its
	// connection. Default 10 s, as ipc.client.connection.maxidletime.
	IdleTimeout time.Duration
	// ConnectTimeout bounds the retries until the cluster has answered for the first time.
	// Default RetryTimeout.
	ConnectTimeout time.Duration
	// RetryTimeout bounds the retries of one call, and of one file while it makes no
	// progress. Default 60 s.
	RetryTimeout time.Duration
	// NameNodeTimeout bounds a single wait for the NameNode. Default 15 s.
	NameNodeTimeout time.Duration
	// DataNodeTimeout bounds a single wait for a DataNode during a read; then the reader
	// tries another replica. Default 5 s.
	DataNodeTimeout time.Duration
	// WriteTimeout bounds a single wait for the DataNodes of a pipeline; then the writer
	// writes the block again. Default 20 s.
	WriteTimeout time.Duration
	// ProbeTimeout is the silence of a pipeline after which its DataNodes are probed, and the
	// time in which a DataNode must answer. If one does not, the writer writes the block again
	// at once. Default 1 s.
	ProbeTimeout time.Duration
	// PenaltyTimeout is the time during which a DataNode that failed is read last, and is not
	// written to. Default 60 s.
	PenaltyTimeout time.Duration
	// CloseTimeout bounds the wait until the NameNode knows the first copy of the last
	// block. Default 30 s.
	CloseTimeout time.Duration

	// ReadAhead is the number of bytes to prefetch for a sequential reader. Default 4 MiB.
	ReadAhead int
	// SpoolMemory is the number of bytes of their current blocks that all writers together keep
	// in memory; the rest of a block is kept in a file. Default: an eighth of what the process
	// may use, by its limit for the garbage collector and by what is available, and at least
	// 8 MiB.
	SpoolMemory int
	// SpoolDir is the directory of the files for blocks. Default: the system's directory for
	// temporary files.
	SpoolDir string
	// Logger logs errors that are retried. Default: none.
	Logger *slog.Logger
}

// defaultRPCPort is Hadoop's default port of the NameNode.
const defaultRPCPort = "8020"

// EnsureDefaults sets zero fields to their defaults. It also adds the default port to
// addresses without a port.
func (c *Config) EnsureDefaults() {
	addresses := make([]string, len(c.Addresses))
	for i, a := range c.Addresses {
		addresses[i] = withPort(a, defaultRPCPort)
	}
	c.Addresses = addresses
	if c.URI == "" && len(addresses) > 0 {
		c.URI = "hdfs://" + addresses[0]
	}
	c.User = cmp.Or(c.User, login.Name())
	c.SpoolDir = cmp.Or(c.SpoolDir, os.TempDir())
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.ensureNumbers()
}

// ensureNumbers sets the defaults of times and sizes.
func (c *Config) ensureNumbers() {
	for field, value := range map[*time.Duration]time.Duration{
		&c.IdleTimeout:     10 * time.Second,
		&c.RetryTimeout:    60 * time.Second,
		&c.NameNodeTimeout: 15 * time.Second,
		&c.DataNodeTimeout: 5 * time.Second,
		&c.WriteTimeout:    20 * time.Second,
		&c.ProbeTimeout:    time.Second,
		&c.PenaltyTimeout:  60 * time.Second,
		&c.CloseTimeout:    30 * time.Second,
	} {
		*field = cmp.Or(*field, value)
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, c.RetryTimeout)
	c.Connections = cmp.Or(c.Connections, 2)
	c.ReadAhead = cmp.Or(c.ReadAhead, 4<<20)
	if c.SpoolMemory == 0 {
		c.SpoolMemory = int(max(8<<20, min(meminfo.Available(), debug.SetMemoryLimit(-1))/8))
	}
}

// Validate reports all invalid fields at once. EnsureDefaults comes before it, so zero fields
// have their defaults.
func (c *Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("hdfs: "+format, args...))
		}
	}
	check(len(c.Addresses) > 0, "no address of a NameNode; set fs.defaultFS or write hdfs://host:port/…")
	for _, a := range c.Addresses {
		_, _, err := net.SplitHostPort(a)
		check(err == nil, "NameNode address %q: %v", a, err)
	}
	check(strings.HasPrefix(c.URI, "hdfs://"), "URI %q does not begin with hdfs://", c.URI)
	check(c.LocalAddress == "" || net.ParseIP(c.LocalAddress) != nil, "LocalAddress %q is not an IP address", c.LocalAddress)
	check(c.Replication >= 0, "Replication is %d", c.Replication)
	check(c.BlockSize >= 0 && c.BlockSize%512 == 0, "BlockSize is %d, not a multiple of 512", c.BlockSize)
	check(c.Connections > 0, "Connections is %d", c.Connections)
	check(c.ReadAhead > 0 && c.SpoolMemory > 0, "ReadAhead %d and SpoolMemory %d must be positive", c.ReadAhead, c.SpoolMemory)
	for _, d := range []time.Duration{c.ConnectTimeout, c.RetryTimeout, c.NameNodeTimeout, c.DataNodeTimeout,
		c.WriteTimeout, c.ProbeTimeout, c.PenaltyTimeout, c.CloseTimeout, c.IdleTimeout} {
		check(d > 0, "a timeout is %v, not positive", d)
	}
	check(c.DataTransferProtection == "" || slices.Contains(Protections, c.DataTransferProtection),
		"DataTransferProtection is %q, not authentication, integrity or privacy", c.DataTransferProtection)
	if c.Kerberos != nil {
		errs = append(errs, c.Kerberos.validate())
	}
	return errors.Join(errs...)
}

// Protections are the values of DataTransferProtection.
var Protections = []string{"authentication", "integrity", "privacy"}

// withPort returns the address, with the port added if it has none. An IPv6 address may have
// its brackets: "[::1]" becomes "[::1]:8020".
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}
