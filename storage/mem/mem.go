// Package mem implements storage.FS in memory, with configurable block sizes and hosts.
// Tests use it in place of HDFS if they need HDFS's behaviour but not its daemons.
//
// The content of a file appears when its Writer is closed; until then the file exists with
// size 0, as on HDFS. A file that is open for reading stays readable after it is removed or
// renamed.
package mem

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/storage"
)

// Options configure an FS. The zero value is valid. Tests of splits, placement or commit
// control the FS by these fields:
//
//	mem.New(mem.Options{BlockSize: 1000, Replication: 3, Place: mem.RoundRobin("a", "b", "c", "d")})
type Options struct {
	// BlockSize is the block size in bytes of files created without one.
	// Default 128 MiB.
	BlockSize int64
	// Replication is the number of copies of files created without one. It is only recorded
	// and passed to Place. Default 1.
	Replication int
	// Place chooses the hosts of a block. Default: no hosts.
	Place Placement
	// NoConcat makes Concat unsupported, as on a local disk. Default false.
	NoConcat bool
	// Now is the clock of modification times. Default time.Now.
	Now func() time.Time
	// Name is the authority in the URI: "mem://Name". Default empty.
	Name string
}

// Placement returns the hosts of a block of a file. Name is the path under which the file was
// created, block the ordinal from 0. Racks is nil or has the rack of each host. Each call of
// Blocks calls it, so it must return the same for the same arguments.
type Placement func(name string, block, replication int) (hosts, racks []string)

// RoundRobin places the copies of a block on consecutive hosts, and shifts by one host from
// block to block. The first host depends on the name of the file. So the blocks of a file
// spread over all hosts, and different files begin on different ones:
//
//	hosts a b c d, 2 copies, first host c:    block 0: c d    block 1: d a    block 2: a b
func RoundRobin(hosts ...string) Placement {
	return func(name string, block, replication int) ([]string, []string) {
		h := fnv.New32a()
		h.Write([]byte(name))
		first := int(h.Sum32()%uint32(len(hosts))) + block
		picked := make([]string, min(replication, len(hosts)))
		for i := range picked {
			picked[i] = hosts[(first+i)%len(hosts)]
		}
		return picked, nil
	}
}

// FS is an in-memory file system. One lock guards the whole tree, so each call is atomic.
// Lookups and reads share it; changes exclude each other.
//
// The methods whose names end in Locked need the lock: find and look for reading, mkdir and
// unlink for writing.
type FS struct {
	opts Options
	mu   struct {
		sync.RWMutex
		root *node
		made uint64 // number of files that were ever made
	}
}

var _ storage.FS = (*FS)(nil)

// New returns an empty file system. It has no Close, because it needs only memory.
func New(opts Options) *FS {
	if opts.BlockSize <= 0 {
		opts.BlockSize = 128 << 20
	}
	if opts.Replication <= 0 {
		opts.Replication = 1
	}
	if opts.Place == nil {
		opts.Place = func(string, int, int) ([]string, []string) { return nil, nil }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	f := &FS{opts: opts}
	f.mu.root = f.newDir()
	return f
}

// URI returns "mem://" followed by Options.Name. Two file systems of one test need different
// names. Otherwise the full names of their files are the same.
func (f *FS) URI() string { return "mem://" + f.opts.Name }

// pathError returns an error that names the call and the path, as errors of package os do.
// The contract of storage.FS requires the path in each error.
func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Open opens a snapshot of the file. Later changes do not affect it: they replace the slice
// of bytes and leave the old slice unchanged.
func (f *FS) Open(ctx context.Context, name string) (storage.File, error) {
	name, err := storage.CleanPath(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.fileLocked("open", name)
	if err != nil {
		return nil, err
	}
	return newFile(name, n.data), nil
}

// Create creates a file and, unless opts.NoParents is set, its missing parents. Its content
// appears when the Writer is closed. The file exists at once, with size 0, so that a second
// Create of the name fails, as it does on HDFS while the first writer has the lease.
func (f *FS) Create(ctx context.Context, name string, opts storage.CreateOptions) (storage.Writer, error) {
	name, err := storage.CleanPath(ctx, "create", name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.findLocked(name) != nil {
		return nil, pathError("create", name, fs.ErrExist)
	}
	if opts.NoParents && f.findLocked(path.Dir(name)) == nil {
		return nil, pathError("create", name, fs.ErrNotExist)
	}
	parent, err := f.mkdirLocked("create", path.Dir(name))
	if err != nil {
		return nil, err
	}
	n := f.newFile(name, opts)
	parent.children[path.Base(name)] = n
	return &writer{fs: f, name: name, node: n}, nil
}

// MkdirAll makes a directory and its missing parents. A file in the way is an error. The
// directory has the time of its creation; entries that come later do not change it. It may run
// any number of times.
func (f *FS) MkdirAll(ctx context.Context, dir string) error {
	dir, err := storage.CleanPath(ctx, "mkdir", dir)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.mkdirLocked("mkdir", dir)
	return err
}

// Concat appends the sources to the target and removes them. On an error it changes nothing. A
// target that does not exist is created. Readers that have the target open see its old content.
func (f *FS) Concat(ctx context.Context, target string, sources []string) error {
	target, err := storage.CleanPath(ctx, "concat", target)
	if err != nil {
		return err
	}
	if f.opts.NoConcat {
		return pathError("concat", target, errors.ErrUnsupported)
	}
	sources = slices.Clone(sources)
	for i, source := range sources {
		if sources[i], err = storage.CleanPath(ctx, "concat", source); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	parts, err := f.partsLocked(target, sources)
	if err != nil {
		return err
	}
	to := f.findLocked(target)
	if to == nil {
		parent, err := f.mkdirLocked("concat", path.Dir(target))
		if err != nil {
			return err
		}
		to = f.newFile(target, storage.CreateOptions{})
		parent.children[path.Base(target)] = to
	}
	// Open readers share the old slice, so append must not write into it.
	data := to.data[:len(to.data):len(to.data)]
	for i, part := range parts {
		data = append(data, part.data...)
		f.unlinkLocked(sources[i])
	}
	to.data, to.modTime = data, f.opts.Now()
	return nil
}

// partsLocked looks up the sources of a Concat. They must be distinct files. The target, if
// it exists, must be a file and none of the sources. HDFS has the same conditions, and
// checks them before it moves the first block. partsLocked changes nothing, so an error
// leaves the tree unchanged.
func (f *FS) partsLocked(target string, sources []string) ([]*node, error) {
	seen := map[*node]bool{}
	if to := f.findLocked(target); to != nil {
		if to.children != nil {
			return nil, pathError("concat", target, syscall.EISDIR)
		}
		seen[to] = true
	}
	parts := make([]*node, len(sources))
	for i, source := range sources {
		n, err := f.fileLocked("concat", source)
		if err != nil {
			return nil, err
		}
		if seen[n] {
			return nil, pathError("concat", source, fmt.Errorf("file is named twice: %w", fs.ErrInvalid))
		}
		seen[n] = true
		parts[i] = n
	}
	return parts, nil
}
