package disks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// disk is one directory. The goroutine of Set.Run probes it; any goroutine reads the
// result. A probe may hang as long as the disk does, so mu is never held during one.
type disk struct {
	cfg *Config
	dir string

	mu struct {
		sync.Mutex
		lock     *os.File  // nil until the directory is locked
		err      error     // of the last probe
		free     int64     // bytes, at the last probe
		total    int64     // bytes
		attempts int       // that run in the directory; at least 0
		since    time.Time // when the probe in progress began; zero: none is in progress
	}
}

// refresh probes the directory. late says that the tasknode runs already: it does not
// know the jobs in a directory that it locks only now, so they are removed.
func (d *disk) refresh(late bool) {
	d.mu.Lock()
	d.mu.since = time.Now()
	locked := d.mu.lock != nil
	d.mu.Unlock()
	var lock *os.File
	var err error
	if !locked {
		lock, err = d.lockAndEmpty(late)
	}
	if err == nil {
		err = d.cfg.Probe(d.dir)
	}
	free, total, spaceErr := d.cfg.Space(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if lock != nil {
		d.mu.lock = lock
	}
	d.mu.since = time.Time{}
	d.setErrLocked(errors.Join(err, spaceErr))
	d.mu.free, d.mu.total = free, total
}

// lockAndEmpty locks the directory and, if late, removes the jobs in it.
func (d *disk) lockAndEmpty(late bool) (*os.File, error) {
	lock, err := lockDir(d.dir)
	if err != nil || !late {
		return lock, err
	}
	if err := removeJobs(d.dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// setErrLocked sets the result of a probe, and logs a change. A broken disk is an error
// that an operator must act on.
func (d *disk) setErrLocked(err error) {
	switch before := d.mu.err; {
	case before == nil && err != nil:
		d.cfg.Logger.Error("local directory broken", "directory", d.dir, "error", err)
	case before != nil && err == nil:
		d.cfg.Logger.Info("local directory usable again", "directory", d.dir)
	}
	d.mu.err = err
}

// errFull marks a directory that works and has too little free space.
var errFull = errors.New("too full")

// checkLocked reports why the directory takes no attempt, nil if it takes one.
func (d *disk) checkLocked() error {
	switch {
	case !d.mu.since.IsZero() && time.Since(d.mu.since) > d.cfg.WriteTimeout:
		return fmt.Errorf("%s: a write has not ended after %v", d.dir, d.cfg.WriteTimeout)
	case d.mu.err != nil:
		return withDir(d.dir, d.mu.err)
	case d.mu.free < d.cfg.MinFree || d.mu.free == 0:
		return fmt.Errorf("%s: %w: %d MiB are free, a task needs at least %d MiB", d.dir, errFull, d.mu.free>>20, d.cfg.MinFree>>20)
	}
	return nil
}

// withDir adds the directory to an error that does not name it.
func withDir(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) || errors.Is(err, ErrInUse) {
		return err
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// freePerAttempt is the free space of one more attempt if all attempts in the directory
// divided it equally. The error is why the directory takes none.
func (d *disk) freePerAttempt() (bytes int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.free / int64(d.mu.attempts+1), d.checkLocked()
}

// add counts attempts that start in the directory, or end if negative.
func (d *disk) add(attempts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.attempts += attempts
}

// state returns a copy of the state for heartbeats and decisions.
func (d *disk) state() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Dir: d.dir, Free: d.mu.free, Total: d.mu.total, Err: d.checkLocked()}
	s.Full = errors.Is(s.Err, errFull)
	return s
}

// close unlocks the directory, if it was ever locked.
func (d *disk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.lock == nil {
		return nil
	}
	return d.mu.lock.Close()
}
