package tasknode

import (
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hammr/hammr/internal/data/taskdir"
)

// releaseJob removes one activity from the count of a job. If the job is over and this was
// its last activity, the removal of its files continues.
func (d *Daemon) releaseJob(job string) {
	j := d.job(job)
	j.busy--
	if j.removed && j.busy == 0 {
		d.continueRemoval(job, j)
	}
}

// removeJob removes the local files of a job when its last attempt has ended.
//
// The files are removed in the background. Until that is done the job counts as busy, and no
// order of the job can start an attempt or a copy in a directory that is being removed.
func (d *Daemon) removeJob(id string) {
	j := d.job(id)
	j.removed = true
	if j.busy == 0 {
		d.continueRemoval(id, j)
	}
}

// continueRemoval begins the next part of the removal of a job that is over and has no
// activity. The copy of the logs may wait long for the file system, so everything else is
// removed before.
func (d *Daemon) continueRemoval(id string, j *job) {
	switch {
	case j.removal == active && j.logDir != "":
		j.removal, j.busy = removingFiles, len(d.cfg.Dirs)
		for _, dir := range d.cfg.Dirs {
			d.removeAllButLogs(id, filepath.Join(dir, id))
		}
	case j.removal == removingFiles && len(j.logs) == 0, j.removal == removingLogs:
		d.forgetJob(id)
	case j.removal == removingFiles:
		j.removal, j.busy = aggregatingLogs, 1
		d.aggregateLogs(JobLogs{Job: id, Dir: j.logDir, Local: j.logs})
	default:
		j.removal, j.busy = removingLogs, len(d.cfg.Dirs)
		for _, dir := range d.cfg.Dirs {
			d.remove(d.disks[dir], []string{filepath.Join(dir, id)}, func() {
				d.inbox.Put(func() { d.releaseJob(id) })
			})
		}
	}
}

// removeAllButLogs removes the files of a job in one of its directories in the background. If
// the directory has logs, they stay, with the name of the directory that they are copied to.
// If it has none, the directory itself is removed.
func (d *Daemon) removeAllButLogs(id, dir string) {
	d.disks[filepath.Dir(dir)].removals.Put(func() {
		paths, logs := []string{dir}, ""
		if entries := d.list(dir); slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == taskdir.Logs }) {
			paths, logs = nil, filepath.Join(dir, taskdir.Logs)
			for _, e := range entries {
				if e.Name() != taskdir.Logs && e.Name() != logDirName {
					paths = append(paths, filepath.Join(dir, e.Name()))
				}
			}
		}
		d.removePaths(paths)
		d.inbox.Put(func() {
			if logs != "" {
				j := d.job(id)
				j.logs = append(j.logs, logs)
			}
			d.releaseJob(id)
		})
	})
}

// forgetJob removes a job from the tables. Its cost does not depend on the attempts of other jobs.
func (d *Daemon) forgetJob(id string) {
	delete(d.jobs, id)
	for _, attempt := range d.knownOf[id] {
		delete(d.known, attempt)
		delete(d.retained, attempt)
	}
	delete(d.knownOf, id)
}

// dropCopy removes a copy that is no longer needed.
//
// After that the attempt counts as never ordered here, so that it can be copied or started
// here later.
func (d *Daemon) dropCopy(job, attempt string) {
	path, retained := d.retained[attempt]
	if !retained || d.job(job).removed {
		return
	}
	delete(d.retained, attempt)
	delete(d.known, attempt)
	d.job(job).busy++
	d.remove(d.diskOf(path), []string{path, path[:len(path)-len(recordSuffix)]}, func() {
		d.inbox.Put(func() { d.releaseJob(job) })
	})
}
