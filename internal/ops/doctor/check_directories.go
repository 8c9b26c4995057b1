package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkDirectories examines whether the daemons can use their directories.
func checkDirectories(_ context.Context, t *Target) (found []Finding) {
	for _, d := range t.dirs() {
		found = append(found, checkDirectory(d))
	}
	return orSkipped(append(found, checkSharedDisks(t)...), "no directories; name them with --config or --dir")
}

// probePattern is the pattern of the names of files that checks make and remove.
const probePattern = ".hammr-doctor-*"

func checkDirectory(d Dir) Finding {
	info, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warn(fmt.Sprintf("mount its disk, or mkdir -p %s; the daemon makes it when it starts", d.Path), "%s: does not exist", d.Path).
			withFix("made the directory "+d.Path, func() error { return os.MkdirAll(d.Path, 0o755) })
	case err != nil:
		return fault("let the daemon's user enter the directories above it", "%s", oneLine(err))
	case !info.IsDir():
		return fault("remove the file, or name another directory", "%s: not a directory", d.Path)
	}
	probe, err := os.CreateTemp(d.Path, probePattern)
	if err != nil {
		return fault("let the daemon's user write there; look at the mode, the mount options and the disk", "%s: not writable: %s", d.Path, oneLine(err))
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return fault("look at the disk and its mount options", "%s: %s", d.Path, oneLine(err))
	}
	return checkMount(d)
}

// mountedNoexec is the flag of statfs(2) for a mount on which no program can be executed.
const mountedNoexec = 0x8

// checkMount examines the mount of a directory that is writable.
func checkMount(d Dir) Finding {
	var mount unix.Statfs_t
	if err := unix.Statfs(d.Path, &mount); err != nil {
		return fault("look at the disk", "%s: %s", d.Path, oneLine(err))
	}
	switch {
	case d.Use == Programs && mount.Flags&mountedNoexec != 0:
		return fault("remount it with exec, or set another --dir", "%s: mounted noexec, so programs of jobs cannot run", d.Path)
	case d.Use == LogFiles && mount.Type == unix.TMPFS_MAGIC:
		return warn("set --dir to a directory on a disk", "%s: a tmpfs, so the master's log is lost when the machine restarts", d.Path)
	}
	return ok("%s: writable", d.Path)
}

// checkSharedDisks reports logs of masters on a disk with local files of tasks, whose writes delay those of the log.
func checkSharedDisks(t *Target) (found []Finding) {
	all := t.dirs()
	for _, log := range all {
		for _, local := range all {
			if log.Use == LogFiles && (local.Use == LocalFiles || local.Use == Programs) && sameDisk(log.Path, local.Path) {
				found = append(found, warn("put the master's --dir on a disk of its own", "%s: on the same disk as %s, which the shuffle writes to", log.Path, local.Path))
			}
		}
	}
	return found
}

// sameDisk reports whether two directories are on one file system. A directory that does not exist is where the
// nearest directory above it is.
func sameDisk(a, b string) bool {
	deviceOf := func(dir string) (uint64, error) {
		var stat unix.Stat_t
		err := unix.Stat(dir, &stat)
		for ; errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); err = unix.Stat(dir, &stat) {
			dir = filepath.Dir(dir)
		}
		return uint64(stat.Dev), err
	}
	x, err := deviceOf(a)
	y, otherErr := deviceOf(b)
	return err == nil && otherErr == nil && x == y
}
