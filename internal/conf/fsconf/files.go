// Package fsconf opens the file systems that a configuration describes: local files, and
// HDFS as core-site.xml and hdfs-site.xml say.
//
//	files, err := fsconf.NewRouter(c, logger)
//	defer files.Close()
//	fsys, path, err := files.Resolve(ctx, "hdfs://nn:8020/in")
//
// Daemons, tasks and clients all open file systems by this package, so that a name refers
// to the same file in each of them.
package fsconf

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/local"
)

// NewRouter returns a Router for the configuration. A file system is opened when it is first
// used, so a cluster without HDFS needs no HDFS configuration. logger logs errors that are
// retried; nil discards them.
//
// Names without a scheme are on fs.defaultFS, as in Hadoop. The caller closes the Router,
// which also closes the connections to HDFS.
func NewRouter(c *conf.Conf, logger *slog.Logger) (*storage.Router, error) {
	return newRouter(c, logger, 0)
}

// interactivePatience is how long a command waits for the first answer of HDFS.
const interactivePatience = 10 * time.Second

// NewInteractiveRouter returns a Router for a program at whose terminal a user waits. It
// gives up early if HDFS has never answered, because then the address is probably wrong.
func NewInteractiveRouter(c *conf.Conf, logger *slog.Logger) (*storage.Router, error) {
	return newRouter(c, logger, interactivePatience)
}

// newRouter returns a Router. connect bounds the wait for the first answer of HDFS; 0 means
// as long as any other call.
func newRouter(c *conf.Conf, logger *slog.Logger, connect time.Duration) (*storage.Router, error) {
	return storage.NewRouter(storage.Config{
		Default: c.String(conf.DefaultFS),
		Open: map[string]storage.Opener{
			"file": func(context.Context, string) (storage.FS, error) { return machine(c), nil },
			"hdfs": func(ctx context.Context, authority string) (storage.FS, error) {
				return openHDFS(ctx, c, authority, logger, connect)
			},
		},
	})
}

// Local returns the local file system for private files of the process, such as segments and
// spills. Injected disk faults apply to it. They do not apply to files that jobs read and
// write by name, because drills test failing local disks.
func Local(c *conf.Conf) storage.FS {
	if !failpoint.Enabled() {
		return machine(c)
	}
	return fault.New(machine(c), fault.Options{
		Sleep: syncutil.Sleep,
		Ask:   func(fault.Op, string) (time.Duration, error) { return failpoint.NextDiskFault() },
	})
}

// machine returns the local file system of this machine. It is for jobs that name files by
// file:, and for private files. Its block size divides local files into splits as HDFS
// would.
func machine(c *conf.Conf) storage.FS {
	return local.New(local.Options{BlockSize: c.Bytes(conf.LocalBlockSize), Durable: c.Bool(conf.LocalDurable)})
}

// CreateOptions returns the options that c sets for every new file. An option that c does
// not set is 0.
func CreateOptions(c *conf.Conf) storage.CreateOptions {
	var o storage.CreateOptions
	if c.IsSet(conf.Replication) {
		o.Replication = c.Int(conf.Replication)
	}
	if c.IsSet(conf.BlockSize) {
		o.BlockSize = c.Bytes(conf.BlockSize)
	}
	return o
}

// openHDFS opens an HDFS file system. authority is the authority of its name: host:port of a
// NameNode, or the name of a service whose NameNodes the configuration lists.
func openHDFS(ctx context.Context, c *conf.Conf, authority string, logger *slog.Logger, connect time.Duration) (storage.FS, error) {
	addresses, err := c.NameNodes(authority)
	if err != nil {
		return nil, err
	}
	o := CreateOptions(c)
	fs, err := hdfs.New(ctx, hdfs.Config{
		Addresses:              addresses,
		URI:                    "hdfs://" + authority,
		UseDatanodeHostname:    c.Bool(conf.UseDatanodeHostname),
		DataTransferProtection: protection(c.Strings("dfs.data.transfer.protection")),
		Replication:            o.Replication,
		BlockSize:              o.BlockSize,
		LocalAddress:           c.String(conf.HDFSLocalAddress),
		ConnectTimeout:         connect,
		RetryTimeout:           c.Duration(conf.HDFSRetryTimeout),
		DataNodeTimeout:        c.Duration(conf.HDFSDataNodeTimeout),
		WriteTimeout:           c.Duration(conf.HDFSWriteTimeout),
		ProbeTimeout:           c.Duration(conf.HDFSProbeTimeout),
		Kerberos:               kerberos(c),
		Logger:                 logger,
	})
	if err != nil {
		return nil, fmt.Errorf("hdfs://%s: %w", authority, err)
	}
	return fs, nil
}

// kerberos returns how to log in with Kerberos. It returns nil unless
// hadoop.security.authentication is kerberos.
func kerberos(c *conf.Conf) *hdfs.Kerberos {
	if c.String("hadoop.security.authentication") != "kerberos" {
		return nil
	}
	return &hdfs.Kerberos{
		ServicePrincipal: c.String("dfs.namenode.kerberos.principal"),
		Keytab:           c.String(conf.Keytab),
		Principal:        c.String(conf.Principal),
	}
}

// protection returns the first protection of a list that hdfs.Config knows. If there is none,
// it returns the whole list, which hdfs.Config refuses.
func protection(list []string) string {
	for _, name := range list {
		if name = strings.ToLower(name); slices.Contains(hdfs.Protections, name) {
			return name
		}
	}
	return strings.Join(list, ",")
}
