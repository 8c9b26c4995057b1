package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/colinmarc/hdfs/v2"
	krb "github.com/jcmturner/gokrb5/v8/client"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/storage"
)

// FS is a client of an HDFS cluster.
//
// It has two pools, because a writer that fails retires its client, so that its leases expire.
// Readers keep theirs.
type FS struct {
	cfg      Config
	log      *slog.Logger
	user     string
	reads    *pool       // metadata and reading
	writes   *pool       // writers
	kerberos *krb.Client // nil if Kerberos is off
	defaults hdfs.ServerDefaults
	suspects suspects
	spools   spoolMemory
	quit     chan struct{}            // Close closes it
	reached  atomic.Bool              // the cluster has answered once
	systems  atomic.Pointer[[]string] // addresses of the NameNodes, for Identify; nil before the first call
	ahead    syncutil.Group           // the read-ahead goroutines
}

var _ storage.FS = (*FS)(nil)

// New connects to a cluster. It fails if no NameNode answers within ConnectTimeout, or if
// the configuration is invalid. It requests the server's defaults, which apply to files
// without their own block size or replication.
func New(ctx context.Context, cfg Config) (*FS, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &FS{cfg: cfg, log: cfg.Logger, user: cfg.User, quit: make(chan struct{})}
	f.suspects.age, f.spools.limit = cfg.PenaltyTimeout, int64(cfg.SpoolMemory)
	options := hdfs.ClientOptions{
		Addresses:              cfg.Addresses,
		User:                   cfg.User,
		UseDatanodeHostname:    cfg.UseDatanodeHostname,
		NamenodeDialFunc:       f.cfg.dialNameNode(),
		DataTransferProtection: cfg.DataTransferProtection,
	}
	if cfg.Kerberos != nil {
		client, err := cfg.Kerberos.login()
		if err != nil {
			return nil, err
		}
		f.kerberos, f.user = client, client.Credentials.UserName()
		options.KerberosClient = client
		options.KerberosServicePrincipleName = cfg.Kerberos.service()
	}
	options.DatanodeDialFunc = f.cfg.dialDataNode()
	f.reads = newPool(options, cfg.Connections, cfg.IdleTimeout)
	f.writes = newPool(options, cfg.Connections, cfg.IdleTimeout)
	err := f.do(ctx, f.reads, "connect to", "", func(c *session, _ int) (err error) {
		f.defaults, err = c.ServerDefaults()
		return err
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the idle connections; a connection that an open file uses closes with that file.
// It waits for the read-ahead goroutines. Call it once.
func (f *FS) Close() error {
	close(f.quit)
	f.reads.close()
	f.writes.close()
	f.ahead.Close()
	if f.kerberos != nil {
		f.kerberos.Destroy()
	}
	return nil
}

// isClosed reports whether Close was called.
func (f *FS) isClosed() bool {
	select {
	case <-f.quit:
		return true
	default:
		return false
	}
}

// URI implements storage.FS. It returns Config.URI, so a nameservice keeps its name in paths
// and errors.
func (f *FS) URI() string { return f.cfg.URI }

// Stat implements storage.FS. A file that is being written has the size of its complete blocks.
func (f *FS) Stat(ctx context.Context, name string) (storage.FileInfo, error) {
	status, err := f.status(ctx, "stat", name)
	if err != nil {
		return storage.FileInfo{}, err
	}
	return describe(clean(name), status), nil
}

// status requests a file's status from the NameNode. op is for errors.
func (f *FS) status(ctx context.Context, op, name string) (*hdfs.FileStatus, error) {
	var status *hdfs.FileStatus
	err := f.do(ctx, f.reads, op, name, func(c *session, _ int) error {
		info, err := c.Stat(clean(name))
		if err == nil {
			status = info.Sys().(*hdfs.FileStatus)
		}
		return err
	})
	return status, err
}

// List implements storage.FS. If the path is a file, the module returns an error without a
// type, so List compares the text of the error.
func (f *FS) List(ctx context.Context, dir string) ([]storage.FileInfo, error) {
	var infos []fs.FileInfo
	err := f.do(ctx, f.reads, "list", dir, func(c *session, _ int) (err error) {
		infos, err = c.ReadDir(clean(dir))
		if err != nil && strings.Contains(err.Error(), "not a directory") {
			return fmt.Errorf("%w: not a directory", errRefused)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]storage.FileInfo, len(infos))
	for i, info := range infos {
		list[i] = describe(path.Join(clean(dir), info.Name()), info.Sys().(*hdfs.FileStatus))
	}
	slices.SortFunc(list, func(a, b storage.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// MkdirAll implements storage.FS. It is idempotent, so it can be retried safely.
func (f *FS) MkdirAll(ctx context.Context, dir string) error { return f.mkdirAll(ctx, dir, dirMode) }

// dirMode is the mode of directories that are not private.
const dirMode fs.FileMode = 0o755

// mkdirAll is MkdirAll with a mode.
func (f *FS) mkdirAll(ctx context.Context, dir string, mode fs.FileMode) error {
	return f.do(ctx, f.reads, "make directory", dir, func(c *session, _ int) error {
		return c.MkdirAll(clean(dir), mode)
	})
}

// Remove implements storage.FS. A missing file counts as removed, so Remove can be retried
// safely.
func (f *FS) Remove(ctx context.Context, name string, recursive bool) error {
	return f.do(ctx, f.reads, "remove", name, func(c *session, _ int) error {
		remove := c.Remove
		if recursive {
			remove = c.RemoveAll
		}
		if err := remove(clean(name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Rename implements storage.FS. The NameNode's rename, as the module calls it, overwrites
// the target, so Rename checks for the target first. Another client may create the target
// between the two calls. Callers therefore use names that no other client uses.
//
// After a lost answer, a retry finds that the source is missing. Then it compares the number
// of the target with the number of the source that the first try saw: a file keeps its
// number when it is renamed.
func (f *FS) Rename(ctx context.Context, from, to string) error {
	from, to = clean(from), clean(to)
	var id uint64 // number of the moved file, from the first try that reached it
	return f.do(ctx, f.reads, "rename", from, func(c *session, try int) error {
		source, err := c.Stat(from)
		if errors.Is(err, fs.ErrNotExist) && try > 0 && id != 0 && hasID(c, to, id) {
			return nil // an earlier try succeeded, but its answer was lost
		}
		if err != nil {
			return err
		}
		id = source.Sys().(*hdfs.FileStatus).GetFileId()
		if _, err := c.Stat(to); err == nil {
			return fmt.Errorf("%w: target %s", fs.ErrExist, f.URI()+to)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return c.Rename(from, to)
	})
}

// hasID reports whether a path means the file with this number. The NameNode numbers files once
// and keeps the number when a file is renamed.
func hasID(c *session, name string, id uint64) bool {
	info, err := c.Stat(name)
	return err == nil && info.Sys().(*hdfs.FileStatus).GetFileId() == id
}

// clean returns the absolute, clean path that the module needs.
func clean(name string) string { return path.Clean("/" + name) }

// errRefused marks operations that this package does not support. They are never retried.
var errRefused = errors.New("refused")

// Flags of a file's status, as in hdfs.proto. The type itself is internal to the module, so
// directories are recognized by its number.
const (
	typeDirectory = 1
	flagEncrypted = 0x02
)

// describe converts a status. HDFS knows the permissions and owners itself; they need not exist
// on this machine.
func describe(name string, s *hdfs.FileStatus) storage.FileInfo {
	return storage.FileInfo{
		Path:        name,
		Size:        int64(s.GetLength()),
		IsDir:       isDir(s),
		ModTime:     time.UnixMilli(int64(s.GetModificationTime())),
		Mode:        fs.FileMode(s.GetPermission().GetPerm()).Perm(),
		Owner:       s.GetOwner(),
		Group:       s.GetGroup(),
		Replication: int(s.GetBlockReplication()),
		BlockSize:   int64(s.GetBlocksize()),
		Inode:       s.GetFileId(),
	}
}

// isDir reports whether a status describes a directory.
func isDir(s *hdfs.FileStatus) bool { return int32(s.GetFileType()) == typeDirectory }

// refuse returns an error if the module cannot handle the bytes of a file: it would return
// cipher text, or fail for erasure-coded blocks. The NameNode would allow both, so the check is
// here.
func refuse(s *hdfs.FileStatus) error {
	if s.GetEcPolicy() != nil {
		return fmt.Errorf("%w: the file is erasure-coded (%s), which this client cannot read or write; copy it to a directory with hdfs ec -setPolicy -replicate",
			errRefused, s.GetEcPolicy().GetName())
	}
	if s.GetFileEncryptionInfo() != nil || s.GetFlags()&flagEncrypted != 0 {
		return fmt.Errorf("%w: the file is in an encryption zone, which this client cannot read or write; copy it out of the zone", errRefused)
	}
	return nil
}
