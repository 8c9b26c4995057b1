package tasknode

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Two things need the bytes that jobs occupy on local disks. A job with a limit
// (hammr.job.local.disk.limit) is measured at each interval, and its largest attempt fails
// when the job exceeds it. And when an attempt fails because a disk is full, all jobs on that
// disk are measured: only the job that occupies most of it is charged.

// usage is the number of bytes that the files of a job occupy in a directory, by attempt. The
// logs of a job count as an attempt named "logs".
type usage map[string]int64

// total returns the bytes of all attempts.
func (u usage) total() (sum int64) {
	for bytes := range maps.Values(u) {
		sum += bytes
	}
	return sum
}

// Usage implements localFiles.
func (osFiles) Usage(jobDir string) (usage, error) {
	root, err := os.OpenRoot(jobDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() // the directory was only read
	u := make(usage)
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // files and directories may be removed meanwhile
		}
		if info, err := e.Info(); err == nil {
			u[attemptIn(path)] += allocated(info)
		}
		return nil
	})
	return u, err
}

// attemptIn returns the attempt to which a path in a job's directory belongs: its directory,
// its directory for temporary files, or its record.
func attemptIn(path string) string {
	first, rest, _ := strings.Cut(path, "/")
	if taskdir.IsShard(first) { // other entries are logs
		first, _, _ = strings.Cut(rest, "/")
	}
	attempt, _, _ := strings.Cut(first, ".")
	return attempt
}

// allocated returns the bytes that a file occupies. A file with holes occupies fewer than its
// length says.
func allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// Free implements localFiles.
func (osFiles) Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// measureShare limits the time in which jobs are measured: one part of so many.
const measureShare = 10

// measureJobs measures the jobs with a limit in the background. A directory that has not
// answered yet is not asked again. The files of a large job take long to measure, so the next
// measurement begins only after measureShare-1 times the time of the last.
func (d *Daemon) measureJobs() {
	for _, dir := range d.cfg.Dirs {
		var jobs []string
		for id, j := range d.jobs {
			if j.diskLimit > 0 && !j.removed {
				jobs = append(jobs, id)
			}
		}
		if len(jobs) == 0 || d.measuring[dir] || time.Now().Before(d.measureAt[dir]) {
			continue
		}
		d.measuring[dir] = true
		d.disks[dir].reads.Put(func() {
			found, began := make(map[string]usage), time.Now()
			for _, id := range jobs {
				u, err := d.files.Usage(filepath.Join(dir, id))
				if err != nil {
					d.cfg.Logger.Warn("cannot measure local files of a job", "job", id, "directory", dir, "error", err)
				}
				found[id] = u
			}
			took := time.Since(began)
			d.inbox.Put(func() {
				delete(d.measuring, dir)
				d.measureAt[dir] = time.Now().Add((measureShare - 1) * took)
				d.measured(dir, found)
			})
		})
	}
}

// measured notes what jobs occupy in a directory, and ends the largest attempt of each job
// that exceeds its limit. The attempts of a job that ends need not be measured again.
func (d *Daemon) measured(dir string, found map[string]usage) {
	for id, u := range found {
		j := d.jobs[id]
		if j == nil {
			continue
		}
		if j.usage == nil {
			j.usage = make(map[string]usage)
		}
		j.usage[dir] = u
		if total := j.bytes(); total > j.diskLimit {
			d.endLargest(j, total)
		}
	}
}

// bytes returns what a job occupies in all directories.
func (j *job) bytes() (sum int64) {
	for u := range maps.Values(j.usage) {
		sum += u.total()
	}
	return sum
}

// endLargest fails the running attempt of a job that occupies the most. It does nothing if no
// attempt runs: what finished attempts retain is needed.
func (d *Daemon) endLargest(j *job, total int64) {
	var largest *attempt
	var most int64
	for _, dir := range slices.Sorted(maps.Keys(j.usage)) {
		for id, bytes := range j.usage[dir] {
			if a := d.attempts[id]; a != nil && bytes > most {
				largest, most = a, bytes
			}
		}
	}
	if largest == nil || largest.isKilled() {
		return
	}
	largest.fail(fmt.Errorf("the job occupies %d bytes of the local disks of %s, and its limit is %d (%s); this attempt occupies the most, %d bytes",
		total, d.cfg.Name, j.diskLimit, conf.LocalDiskLimit, most))
}

// fullBytes is the free space below which a disk counts as full when an attempt says so. An
// attempt that fails has already removed a part of what it wrote.
const fullBytes = 256 << 20

// judgeFullDisk returns the final report of an attempt that failed because its disk is full.
// If another job occupies more of the disk, the attempt has exited for a cause that is not its
// own. It runs in the attempt's goroutine and measures all jobs of the directory.
func (a *attempt) judgeFullDisk(last *wire.Report) *wire.Report {
	failed := last.GetFailed()
	if failed == nil || !strings.Contains(failed.Cause, syscall.ENOSPC.Error()) {
		return last
	}
	dir := filepath.Dir(taskdir.JobDir(a.start.LocalDir))
	free, err := a.daemon.files.Free(dir)
	if err != nil || free > fullBytes {
		return last // the task has met another full disk, or only says so
	}
	largest, most, own := a.largestJob(dir)
	if largest == a.start.JobId || largest == "" {
		failed.Cause += fmt.Sprintf("; the job occupies %d bytes of %s on %s, more than any other", own, dir, a.cfg.Name)
		return last
	}
	return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: fmt.Sprintf(
		"%s on %s is full: %s occupies %d bytes of it, and this job %d: %s", dir, a.cfg.Name, largest, most, own, failed.Cause)}}}
}

// largestJob returns the job that occupies most of a directory, and the bytes of the
// attempt's own job. Of equal jobs it prefers the attempt's own.
func (a *attempt) largestJob(dir string) (largest string, most, own int64) {
	entries, err := a.daemon.files.ReadDir(dir)
	if err != nil {
		return "", 0, 0
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "job_") {
			continue
		}
		u, _ := a.daemon.files.Usage(filepath.Join(dir, e.Name())) // what could be read counts
		bytes := u.total()
		if e.Name() == a.start.JobId {
			own = bytes
		}
		if bytes > most || bytes == most && e.Name() == a.start.JobId {
			largest, most = e.Name(), bytes
		}
	}
	return largest, most, own
}
