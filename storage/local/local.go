// Package local implements storage.FS with the files of the local machine.
//
// A path of the FS is a path of the machine. An FS keeps no state between calls, so one FS
// serves the whole process and needs no Close. A file is written in place under its final
// name; a caller that needs it to appear atomically writes another name and renames it.
package local

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/hammr/hammr/storage"
)

// DefaultBlockSize is the default of Options.BlockSize: 128 MiB, as on HDFS.
const DefaultBlockSize = 128 << 20

// The permissions of the files and directories that an FS creates, before the umask. They
// are Hadoop's defaults.
const (
	fileMode = 0o644
	dirMode  = 0o755
)

// Options configure an FS. The zero value is valid.
type Options struct {
	// BlockSize is the length in bytes of the blocks that Blocks and Stat report, and
	// therefore of splits. Default DefaultBlockSize.
	BlockSize int64
	// Durable makes Writer.Close wait until the disk has stored the file, so that it
	// survives a power failure. Default false.
	Durable bool
}

// FS is the file system of the local machine.
//
// The methods do little: they check the path, call package os, and translate the cases in
// which package os differs from the contract of storage.FS.
type FS struct{ opts Options }

var _ storage.FS = (*FS)(nil)

// New returns an FS. It opens nothing, so it cannot fail.
func New(opts Options) *FS {
	if opts.BlockSize <= 0 {
		opts.BlockSize = DefaultBlockSize
	}
	return &FS{opts: opts}
}

// URI returns "file://".
func (f *FS) URI() string { return "file://" }

// Open opens a file for reading. It fails for a directory, which package os would open.
func (f *FS) Open(ctx context.Context, name string) (storage.File, error) {
	name, err := storage.CleanPath(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Create creates a file and, unless opts.NoParents is set, its missing parents. It ignores the
// other options: a local file has one copy, and blocks only in name.
func (f *FS) Create(ctx context.Context, name string, opts storage.CreateOptions) (storage.Writer, error) {
	name, err := storage.CleanPath(ctx, "create", name)
	if err != nil {
		return nil, err
	}
	create, mkdirAll := createExclusive, func(dir string) error { return os.MkdirAll(dir, dirMode) }
	if opts.Private {
		create, mkdirAll = createPrivate, makePrivate
	}
	file, err := create(name)
	if errors.Is(err, fs.ErrNotExist) && !opts.NoParents {
		if err = mkdirAll(path.Dir(name)); err == nil {
			file, err = create(name)
		}
	}
	if err != nil {
		return nil, err
	}
	return newWriter(file, f.opts.Durable), nil
}

// createExclusive creates a file that does not exist. If two callers create the same file,
// the kernel decides which of them succeeds.
func createExclusive(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
}

// MkdirAll makes a directory and its missing parents. It succeeds if the directory exists, and
// fails if a file has its name.
func (f *FS) MkdirAll(ctx context.Context, dir string) error {
	dir, err := storage.CleanPath(ctx, "mkdir", dir)
	if err != nil {
		return err
	}
	return os.MkdirAll(dir, dirMode)
}

// Rename moves a file or a directory within one device. The parent of the target must exist. A
// rename across devices is an error, since it would copy the data and not be atomic. An error
// names both paths.
func (f *FS) Rename(ctx context.Context, from, to string) error {
	from, err := storage.CleanPath(ctx, "rename", from)
	if err != nil {
		return err
	}
	if to, err = storage.CleanPath(ctx, "rename", to); err != nil {
		return err
	}
	if err := renameNoReplace(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// Remove removes a file or directory.
// It refuses the root of the machine.
func (f *FS) Remove(ctx context.Context, name string, recursive bool) error {
	name, err := storage.CleanPath(ctx, "remove", name)
	if err != nil {
		return err
	}
	if name == "/" {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	if recursive {
		return os.RemoveAll(name)
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Concat is not supported because it would have to copy data. storage.Join then copies.
func (f *FS) Concat(_ context.Context, target string, _ []string) error {
	return &fs.PathError{Op: "concat", Path: target, Err: errors.ErrUnsupported}
}

// bufferSize is the size of the buffer that collects small writes. A write of at least this
// size bypasses it.
const bufferSize = 64 << 10

// writer is a storage.Writer. It is used by one goroutine.
//
//	open ──Close──> whole
//	  │  └─error──> closed ──Abort──> removed
//	  └────Abort──────────────────────> removed
//
// Other processes see the file while it is written, because a local file system has no lease.
// Callers write to a name that no reader knows.
type writer struct {
	file    *os.File
	buf     *bufio.Writer
	durable bool
	closed  bool // the descriptor is closed
	whole   bool // Close has returned nil
}

func newWriter(file *os.File, durable bool) *writer {
	return &writer{file: file, buf: bufio.NewWriterSize(file, bufferSize), durable: durable}
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, &fs.PathError{Op: "write", Path: w.file.Name(), Err: fs.ErrClosed}
	}
	return w.buf.Write(p)
}

// Close implements storage.Writer. A durable file is synced before the descriptor is closed;
// the entry in its directory is not.
func (w *writer) Close() error {
	if w.closed {
		return &fs.PathError{Op: "close", Path: w.file.Name(), Err: fs.ErrClosed}
	}
	err := w.buf.Flush()
	if err == nil && w.durable {
		err = w.file.Sync()
	}
	w.closed = true
	err = errors.Join(err, w.file.Close())
	w.whole = err == nil
	return err
}

// Abort implements storage.Writer.
func (w *writer) Abort() error {
	if w.whole {
		return nil
	}
	if !w.closed {
		// The bytes are discarded, so an error of Close does not matter.
		_ = w.file.Close()
		w.closed = true
	}
	if err := os.Remove(w.file.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
