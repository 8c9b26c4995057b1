package storage

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
)

// CheckRegular refuses a file whose bytes cannot be read by length, or not by other processes:
// a named pipe, a socket, a device, a file of a process, and a file of /proc, whose length is
// not known before it is read. A job reads ranges of a file, in other processes, and may read
// them again. Only local files can be of these kinds. It accepts a directory.
func CheckRegular(ctx context.Context, fsys FS, info FileInfo) error {
	kind := ""
	switch local := strings.HasPrefix(fsys.URI(), "file:"); {
	case info.IsDir || !local:
		return nil
	case !info.Mode.IsRegular():
		kind = "a " + kindOf(info.Mode)
	case ofProcess(info.Path):
		kind = "another file in each process"
	case info.Size == 0 && hasBytes(ctx, fsys, info.Path):
		kind = "a file whose length is not known before it is read"
	default:
		return nil
	}
	return fmt.Errorf("%s is %s; a job reads only regular files, because several processes read parts of them, and may read them again: copy its content to a file first",
		Name(fsys, info.Path), kind)
}

// kindOf names a file that is neither regular nor a directory.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link without a target"
	}
	return "special file"
}

// ofProcess reports whether a name means a file that the process has open: standard input that
// is a regular file, for example.
func ofProcess(name string) bool {
	return strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/std") || strings.HasPrefix(name, "/proc/")
}

// hasBytes reports whether a file has bytes, whatever its length says. A file that cannot be
// read is an error of the task that reads it.
func hasBytes(ctx context.Context, fsys FS, name string) bool {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return false
	}
	defer f.Close()
	n, _ := f.Read(make([]byte, 1))
	return n > 0
}
