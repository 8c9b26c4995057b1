package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/percentile"
)

// existing returns the directories that exist. The check of directories reports the others.
func existing(t *Target) (dirs []Dir) {
	for _, d := range t.dirs() {
		if info, err := os.Stat(d.Path); err == nil && info.IsDir() {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// lowFraction is the part of a file system's bytes or inodes below which a directory is nearly full.
const lowFraction = 0.05

// space is the space of a file system that this user may use.
type space struct{ free, total, freeFiles, files int64 } // bytes, and inodes; files is 0 if there is no limit

// checkSpace measures the free space of a directory.
func checkSpace(_ context.Context, _ *Target, d Dir) Finding {
	var mount unix.Statfs_t
	if err := unix.Statfs(d.Path, &mount); err != nil {
		return fault("look at the disk", "%s: %s", d.Path, oneLine(err))
	}
	return judgeSpace(d, space{
		free: int64(mount.Bavail) * int64(mount.Bsize), total: int64(mount.Blocks) * int64(mount.Bsize),
		freeFiles: int64(mount.Ffree), files: int64(mount.Files),
	})
}

// judgeSpace compares the free space of a directory with what its daemon needs.
func judgeSpace(d Dir, s space) Finding {
	text := fmt.Sprintf("%s: %d MiB of %d MiB free", d.Path, s.free>>20, s.total>>20)
	inodes := fmt.Sprintf("%s: %d of %d inodes free", d.Path, s.freeFiles, s.files)
	const remedy = "remove files, or use a larger disk"
	switch {
	case s.free == 0 || s.free < d.MinFree:
		return fault(remedy, "%s, at least %d MiB are needed", text, max(d.MinFree>>20, 1))
	case s.files > 0 && s.freeFiles == 0:
		return fault("remove files, or make the file system with more inodes", "%s", inodes)
	case float64(s.free) < lowFraction*float64(s.total):
		return warn(remedy, "%s", text)
	case float64(s.freeFiles) < lowFraction*float64(s.files):
		return warn("remove files, or make the file system with more inodes", "%s", inodes)
	}
	return ok("%s", text)
}

// A probe writes blocks of latencyBlock bytes and waits for each to be on the disk, until it has latencyWrites
// times or latencyTime has passed.
const (
	latencyBlock  = 4 << 10
	latencyWrites = 100
	latencyTime   = 2 * time.Second
)

// checkLatency measures how long synchronous writes take, as a master makes them for each batch of its log.
func checkLatency(ctx context.Context, _ *Target, d Dir) Finding {
	times, err := writeTimes(ctx, d.Path)
	if err != nil {
		return skipped("%s: %s", d.Path, oneLine(err))
	}
	return judgeLatency(d, times)
}

// writeTimes returns the times of synchronous writes to a file in dir, at least one.
func writeTimes(ctx context.Context, dir string) (times []time.Duration, err error) {
	f, err := os.CreateTemp(dir, probePattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := bytes.Repeat([]byte{'h'}, latencyBlock)
	for end := time.Now().Add(latencyTime); len(times) < latencyWrites && (len(times) == 0 || time.Now().Before(end)); {
		began := time.Now()
		// Drills make local disks slow or broken.
		if err := failpoint.Disk(ctx, "write", f.Name()); err != nil {
			return nil, err
		}
		if _, err := f.WriteAt(block, int64(len(times))*latencyBlock); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// slowFraction is the part of Dir.Slow above which a write deserves a warning.
const slowFraction = 10

// judgeLatency compares the 99th percentile of the times with the limit of the daemon.
func judgeLatency(d Dir, times []time.Duration) Finding {
	median, p99 := percentile.Of(times, 50), percentile.Of(times, 99)
	text := fmt.Sprintf("%s: a synchronous write takes %v, 99%% of %d take at most %v",
		d.Path, median.Round(10*time.Microsecond), len(times), p99.Round(10*time.Microsecond))
	remedy := "use a faster disk, or one with less load"
	switch {
	case d.Slow > 0 && p99 >= d.Slow:
		return fault(remedy, "%s; the limit is %v", text, d.Slow)
	case d.Slow > 0 && p99 >= d.Slow/slowFraction:
		return warn(remedy, "%s; the limit is %v", text, d.Slow)
	}
	return ok("%s", text)
}
