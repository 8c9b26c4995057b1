package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hammr/hammr/shuffle"
)

// remainderBytes is what Fill leaves of the free space of a file system.
const remainderBytes = 1 << 20

// ErrRootDisk is the error of a full disk that would be the machine's own.
var ErrRootDisk = errors.New("the directory lies on the root file system, and programs of the machine would fail too: give the cluster a directory on a disk of its own, or allow it with --force")

// onRootDisk reports whether a directory is on the root file system.
func onRootDisk(dir string) (bool, error) {
	var at, root syscall.Stat_t
	err := errors.Join(syscall.Stat(dir, &at), syscall.Stat("/", &root))
	return at.Dev == root.Dev, err
}

// fill makes a file that takes the free space of its file system, but for a remainder.
func fill(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &disk); err != nil {
		return errors.Join(err, f.Close())
	}
	free := disk.Bavail // root may use the blocks that are reserved for it
	if os.Geteuid() == 0 {
		free = disk.Bfree
	}
	size := int64(free)*disk.Bsize - remainderBytes
	if size > 0 {
		err = syscall.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if err != nil {
		err = fmt.Errorf("%d bytes for %s: %w", size, file, err)
	}
	return errors.Join(err, f.Close())
}

// ErrNoSegment is the error of a corruption that has no segment to corrupt.
var ErrNoSegment = errors.New("the tasknode has no segment to corrupt")

// Segments returns the files of finished attempts with segments below a tasknode's directory of
// tasks, or of one job there, in order of their names. A directory that ends in .tmp belongs to an
// attempt that has not finished.
func Segments(tasks string) (files []string) {
	_ = filepath.WalkDir(tasks, func(path string, d fs.DirEntry, err error) error { // files may vanish meanwhile
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, ".tmp/") {
			return nil
		}
		if _, err := os.Stat(shuffle.IndexPath(path)); err == nil {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// Corrupt changes a byte in the middle of a segment below a tasknode's directory of tasks, and
// returns the file. choice, at least 0, selects the segment. The error is ErrNoSegment if there is
// none.
func Corrupt(tasks string, choice int) (file string, err error) {
	files := Segments(tasks)
	if len(files) == 0 {
		return "", ErrNoSegment
	}
	file = files[choice%len(files)]
	if err := flip(file); err != nil {
		return file, fmt.Errorf("corruption of %s: %w", file, err)
	}
	return file, nil
}

// flip changes a byte in the middle of a file. Which byte it is does not matter, since a
// checksum covers all of a segment. An empty file stays as it is.
func flip(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	var b [1]byte
	at := info.Size() / 2
	if _, err := f.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 0x55
	if _, err := f.WriteAt(b[:], at); err != nil {
		return err
	}
	return f.Close()
}
