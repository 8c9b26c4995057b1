package tasknode

import (
	"path/filepath"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// diskWorkers call the functions that wait for one local directory, each kind in its own
// goroutine, so that a read does not wait for the removal of many files.
//
// A directory that hangs then occupies two threads of the kernel however many jobs end, and
// delays no other directory.
type diskWorkers struct {
	reads, removals *syncutil.Mailbox[func()]
}

// startDisks starts the goroutines of the local directories. They end when stop is closed
// and all functions have been called.
func (d *Daemon) startDisks(stop <-chan struct{}) {
	d.disks = make(map[string]*diskWorkers)
	for _, dir := range d.cfg.Dirs {
		w := &diskWorkers{syncutil.NewMailbox[func()](), syncutil.NewMailbox[func()]()}
		d.disks[dir] = w
		d.diskUsers.Go(func() { callEach(w.reads, stop) })
		d.diskUsers.Go(func() { callEach(w.removals, stop) })
	}
}

// callEach calls the functions in a mailbox until stop is closed and the mailbox is empty.
func callEach(box *syncutil.Mailbox[func()], stop <-chan struct{}) {
	for stopped := false; !stopped; {
		select {
		case <-box.Ready():
		case <-stop:
			stopped = true
		}
		for _, f := range box.Take() {
			f()
		}
	}
}

// diskOf returns the workers of the directory that contains the directory of an attempt, or its
// record. Any goroutine may call it.
func (d *Daemon) diskOf(path string) *diskWorkers {
	if w := d.disks[filepath.Dir(taskdir.JobDir(path))]; w != nil {
		return w
	}
	return d.disks[d.cfg.Dirs[0]]
}

// remove removes the given paths of one directory in the background and then calls done. Any
// goroutine may call it.
func (d *Daemon) remove(disk *diskWorkers, paths []string, done func()) {
	disk.removals.Put(func() {
		d.removePaths(paths)
		done()
	})
}

// removePaths removes the given paths. It may take as long as a disk hangs.
func (d *Daemon) removePaths(paths []string) {
	for _, path := range paths {
		if err := d.files.Remove(path); err != nil {
			d.cfg.Logger.Warn("cannot remove local files", "path", path, "error", err)
		}
	}
}
