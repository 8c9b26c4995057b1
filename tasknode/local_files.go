package tasknode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// localFiles are the operations of the daemon on its local directories. Each may take as
// long as a disk hangs, so the loop calls none of them. Tests replace it by one that blocks.
type localFiles interface {
	// ReadDir lists a directory.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// ReadRecord reads the record at a path.
	ReadRecord(path string) (*wire.Report, error)
	// ReadLogDir returns the directory for logs of the job that has a local directory, "" if it
	// is not noted there.
	ReadLogDir(jobDir string) (string, error)
	// CheckRecord returns why the files that a record names are unusable, as checkRecord does.
	CheckRecord(dir string, last *wire.Report) error
	// Usage returns what the files in the directory of a job occupy.
	Usage(jobDir string) (usage, error)
	// Free returns the free bytes of the disk that has a directory.
	Free(dir string) (int64, error)
	// Remove removes what lies at a path with all its content, if there is anything. The
	// directory that contains the path is the daemon's own: no user may rename in it.
	Remove(path string) error
}

// osFiles implements localFiles.
type osFiles struct{}

func (osFiles) ReadDir(dir string) ([]fs.DirEntry, error)       { return os.ReadDir(dir) }
func (osFiles) ReadRecord(path string) (*wire.Report, error)    { return readRecord(path) }
func (osFiles) ReadLogDir(jobDir string) (string, error)        { return readLogDir(jobDir) }
func (osFiles) CheckRecord(dir string, last *wire.Report) error { return checkRecord(dir, last) }
func (osFiles) Remove(path string) error                        { return removeTree(path) }

// OpenRegular opens a file that a task may have made. It follows no link, waits for no
// writer of a FIFO and opens no device. A file of more than limit bytes is refused.
//
// Only the last element of the path may be the task's: links before it are followed.
func OpenRegular(path string, limit int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s: not a regular file but %v", path, info.Mode().Type())
	case info.Size() > limit:
		err = fmt.Errorf("%s: %d bytes, more than %d", path, info.Size(), limit)
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read
	return io.ReadAll(io.LimitReader(f, limit))
}

// removeTree removes path with its content. It removes the entries of a directory in
// parallel, because the kernel takes a tenth of a second to free the pages of a gigabyte of
// segments.
//
// A task may change its directory at the same time, and replace a part of it by a link. So
// nothing below path is named by a path of more than one element: a directory is opened
// relative to the one above it, and a link is removed and not followed.
//
// A change at the wrong moment makes a part of the removal fail. What is left is then removed in
// another try: each has less to do, so a task cannot keep much.
func removeTree(path string) (err error) {
	for range removeTries {
		if err = tryRemoveTree(path); err == nil {
			break
		}
	}
	return err
}

// removeTries is how often the removal of a directory is tried.
const removeTries = 10

// tryRemoveTree does the work of removeTree once.
func tryRemoveTree(path string) error {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	name := filepath.Base(path)
	return errors.Join(removeEntries(parent, name), parent.RemoveAll(name))
}

// removeEntries removes the content of a directory. It leaves anything else to the caller.
func removeEntries(parent *os.Root, name string) error {
	dir, err := openDir(parent, name)
	if dir == nil || err != nil {
		return err
	}
	defer dir.Close()
	names, err := fs.ReadDir(dir.FS(), ".")
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, e := range names {
		group.Go(func() error { return dir.RemoveAll(e.Name()) })
	}
	return errors.Join(err, group.Wait())
}

// openDir opens a directory that lies directly in parent. It returns nil if name is no
// directory, or was replaced by a link after the check.
func openDir(parent *os.Root, name string) (*os.Root, error) {
	before, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !before.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := dir.Stat(".")
	if err == nil && os.SameFile(before, after) {
		return dir, nil
	}
	return nil, errors.Join(err, dir.Close())
}
