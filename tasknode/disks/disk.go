package disks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// disk is one directory.
type disk struct {
	cfg *Config
	dir string

	mu struct {
		sync.Mutex
		lock     *os.File  // nil until the directory is possessed
		fault    error     // of the last look; nil when it was good
		free     int64     // bytes, as of the last look
		total    int64     // bytes
		attempts int       // that run there; at least 0
		since    time.Time // when the look began that is under way; zero while none is
	}
}

// refresh finds out how the directory is. late says that the tasknode runs
// already, so that what lies in a directory not possessed before is of no use.
func (d *disk) refresh(late bool) {
	d.mu.Lock()
	d.mu.since = time.Now()
	possessed := d.mu.lock != nil
	d.mu.Unlock()
	var lock *os.File
	var err error
	if !possessed {
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

// setErrLocked takes over how the directory is found now, and logs a change.
func (d *disk) setErrLocked(fault error) {
	switch before := d.mu.fault; {
	case before == nil && fault != nil:
		d.cfg.Logger.Error("local directory is out of order and not used", "directory", d.dir, "error", fault)
	case before != nil && fault == nil:
		d.cfg.Logger.Info("local directory is in use", "directory", d.dir)
	}
	d.mu.fault = fault
}

// errFull marks a directory that is good and has too little room.
var errFull = errors.New("too full")

// checkLocked reports why the directory takes no attempt.
func (d *disk) checkLocked() error {
	switch {
	case !d.mu.since.IsZero() && time.Since(d.mu.since) > d.cfg.WriteTimeout:
		return fmt.Errorf("%s: a write has not ended after %v", d.dir, d.cfg.WriteTimeout)
	case d.mu.fault != nil:
		return withDir(d.dir, d.mu.fault)
	case d.mu.free < d.cfg.MinFree || d.mu.free == 0:
		return fmt.Errorf("%s: %w: %d MiB are left, and %d MiB have to be for it to take another task", d.dir, errFull, d.mu.free>>20, d.cfg.MinFree>>20)
	}
	return nil
}

// withDir says which directory has a fault, unless the fault does.
func withDir(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) || errors.Is(err, ErrInUse) {
		return err
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// freePerAttempt is what an attempt would have of the room, were it shared by all that
// run there. The error is why the directory takes none.
func (d *disk) freePerAttempt() (bytes int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.free / int64(d.mu.attempts+1), d.checkLocked()
}

func (d *disk) add(attempts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.attempts += attempts
}

func (d *disk) state() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Dir: d.dir, Free: d.mu.free, Total: d.mu.total, Err: d.checkLocked()}
	s.Full = errors.Is(s.Err, errFull)
	return s
}

func (d *disk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.lock == nil {
		return nil
	}
	return d.mu.lock.Close()
}
