package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// releaseJob removes one activity from the count of a job. If the job is over and this was
// its last activity, it removes the job's files.
func (d *Daemon) releaseJob(job string) {
	j := d.job(job)
	if j.busy--; j.removed {
		d.removeJob(job)
	}
}

// removeJob removes the local files of a job when its last attempt has ended.
//
// It runs in the loop, so that no order of the job can start an attempt in a directory that
// is being removed.
func (d *Daemon) removeJob(id string) {
	j := d.job(id)
	j.removed = true
	if j.busy > 0 {
		return
	}
	for _, dir := range d.cfg.Dirs {
		if err := removeTree(filepath.Join(dir, id)); err != nil {
			d.cfg.Logger.Warn("cannot remove local files of a job", "job", id, "directory", dir, "error", err)
		}
	}
	delete(d.jobs, id)
	for attempt, job := range d.known {
		if job == id {
			delete(d.known, attempt)
			delete(d.retained, attempt)
		}
	}
}

// dropCopy removes a copy that is no longer needed.
//
// After that the attempt counts as never ordered here, so that it can be copied or started
// here later.
func (d *Daemon) dropCopy(job, attempt string) {
	path, retained := d.retained[attempt]
	if !retained {
		return
	}
	delete(d.retained, attempt)
	delete(d.known, attempt)
	d.job(job).busy++
	d.workers.Go(func() {
		d.removeFiles([]string{path, path[:len(path)-len(recordSuffix)]})
		d.inbox.Put(func() { d.releaseJob(job) })
	})
}

// removeFiles removes files that no reader will request.
func (d *Daemon) removeFiles(orphans []string) {
	for _, path := range orphans {
		if err := removeTree(path); err != nil {
			d.cfg.Logger.Warn("cannot remove local files", "path", path, "error", err)
		}
	}
}

// removeTree removes dir with its content. It removes several files in parallel, because the
// kernel takes a tenth of a second to free the pages of a gigabyte of segments.
func removeTree(dir string) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	// RemoveAll reports the entries that cannot be read.
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		group.Go(func() error {
			if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
		return nil
	})
	return errors.Join(group.Wait(), os.RemoveAll(dir))
}
