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

	"github.com/hammr/hammr/internal/failpoint"
)

// Names of this package's own in a directory. Those of jobs begin otherwise.
const (
	lockName  = ".lock"
	probeName = ".probe"
)

// ErrInUse marks a directory that another tasknode uses.
var ErrInUse = errors.New("another tasknode uses it; give each its own")

// lockDir makes a directory this process's alone, as long as the file is open.
func lockDir(dir string) (lock *os.File, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// Open for reading alone, it hinders nobody from making the disk read-only.
	lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Lock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), lock.Close())
	}
	return lock, nil
}

// lockTimeout is for how long a file is waited for that somebody else has locked.
const lockTimeout = 3 * time.Second

// Lock makes a file this process's alone, as long as it is open. A process that was
// killed has its files until the kernel has ended all of its threads, which takes a
// while on a busy machine: so who is started again at once waits for a moment. The
// error is ErrInUse.
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

// removeJobs removes what jobs have left in a directory.
func removeJobs(dir string) error {
	entries, err := os.ReadDir(dir)
	faults := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "job_") {
			faults = append(faults, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(faults...)
}

// probe writes the block of a file anew and waits for the disk. The file stays,
// so that this costs the file system no transaction.
func probe(dir string) error {
	if err := failpoint.Disk(context.Background(), "write", dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, probeName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes.Repeat([]byte("probe of a disk\n"), 32), 0)
	if err == nil {
		err = unix.Fdatasync(int(f.Fd()))
	}
	return errors.Join(err, f.Close())
}

// space asks the file system what it lets this user have. One without inodes has
// no room for files.
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
