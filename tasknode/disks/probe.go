package disks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/owndir"
)

// Names of this package's own files in a directory. The names of job directories begin with
// "job_".
const (
	lockName  = ".lock"
	probeName = ".probe"
)

// ErrInUse marks a directory that another tasknode has locked.
var ErrInUse = errors.New("another tasknode uses it; give each its own")

// lockDir locks a directory for this process as long as the returned file is open. It makes
// the directory if it is missing.
func lockDir(dir string) (lock *os.File, err error) {
	if err := owndir.Make(dir, 0o755); err != nil {
		return nil, err
	}
	// The file is opened only for reading, so that an operator can still remount the disk
	// read-only.
	lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Lock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), lock.Close())
	}
	return lock, nil
}

// lockTimeout is how long Lock waits for a file that another process has locked.
const lockTimeout = 3 * time.Second

// Lock locks a file for this process as long as the file is open. It waits for up to
// lockTimeout if the file is locked, and then returns ErrInUse. A killed process keeps its
// locks until the kernel has ended all of its threads, and its successor may start at once.
func Lock(f *os.File) error {
	for end := time.Now().Add(lockTimeout); ; time.Sleep(20 * time.Millisecond) {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return nil
		}
		if !time.Now().Before(end) {
			return ErrInUse
		}
	}
}

// IsLocked reports whether a process has locked the file with Lock.
func IsLocked(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}

// removeJobs removes the directories of jobs.
func removeJobs(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "job_") {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// probe overwrites one block of a file and waits until the block is on the disk. The file
// stays, so that a probe changes no metadata and needs no transaction of the file system.
func probe(dir string) error {
	if err := failpoint.Disk(context.Background(), "write", dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, probeName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes.Repeat([]byte("probe of a disk\n"), 256), 0)
	if err == nil {
		err = unix.Fdatasync(int(f.Fd()))
	}
	return errors.Join(err, f.Close())
}

// space returns the free bytes that this user may write, and the size of the file system. If
// there are no free inodes, no space is free for another file.
func space(dir string) (free, total int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	free, total = int64(fs.Bavail)*int64(fs.Bsize), int64(fs.Blocks)*int64(fs.Bsize)
	if fs.Files > 0 && fs.Ffree == 0 {
		free = 0
	}
	return free, total, nil
}
