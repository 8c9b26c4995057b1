package tasknode

import "path/filepath"

// releaseJob removes one activity from the count of a job. If the job is over and this was
// its last activity, its files are removed next. If they are removed, the job is forgotten.
func (d *Daemon) releaseJob(job string) {
	j := d.job(job)
	j.busy--
	switch {
	case j.busy > 0 || !j.removed:
	case j.removing:
		d.forgetJob(job)
	default:
		d.removeJob(job)
	}
}

// removeJob removes the local files of a job when its last attempt has ended.
//
// The files are removed in the background. Until that is done the job counts as busy, and no
// order of the job can start an attempt or a copy in a directory that is being removed.
func (d *Daemon) removeJob(id string) {
	j := d.job(id)
	j.removed = true
	if j.busy > 0 {
		return
	}
	j.removing = true
	j.busy = len(d.cfg.Dirs)
	for _, dir := range d.cfg.Dirs {
		d.remove(d.disks[dir], []string{filepath.Join(dir, id)}, func() {
			d.inbox.Put(func() { d.releaseJob(id) })
		})
	}
}

// forgetJob removes a job from the tables.
func (d *Daemon) forgetJob(id string) {
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
