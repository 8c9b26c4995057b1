package disks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// disk is one directory. The goroutine of Set.Run probes it, and any goroutine reads the
// result. A probe may hang as long as the disk hangs, so mu is never held during a probe.
type disk struct {
	cfg *Config
	dir string

	mu struct {
		sync.Mutex
		lock     *os.File      // nil until the directory is locked
		minFree  int64         // bytes that must be free; Config.MinFree at first
		err      error         // result of the last probe
		free     int64         // bytes, at the last probe
		total    int64         // bytes
		attempts int           // attempts that run in the directory; at least 0
		since    time.Time     // when the present probe began; zero if no probe is running
		latency  time.Duration // of the last probe
		slow     bool          // the last probes were slow
		contrary int           // number of probes in a row that contradict slow; less than Config.SlowProbes
	}
}

// refresh probes the directory. late says that the tasknode already runs. If a directory is
// locked only then, the tasknode does not know the jobs in it, so refresh removes them.
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
	began := time.Now()
	if err == nil {
		err = d.cfg.Probe(d.dir)
	}
	latency := time.Since(began)
	free, total, spaceErr := d.cfg.Space(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if lock != nil {
		d.mu.lock = lock
	}
	d.mu.since = time.Time{}
	d.setErrLocked(errors.Join(err, spaceErr))
	d.setLatencyLocked(latency)
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

// setErrLocked sets the result of a probe, and logs a change. A broken disk is logged as an
// error, because an operator must act on it.
func (d *disk) setErrLocked(err error) {
	switch before := d.mu.err; {
	case before == nil && err != nil:
		d.cfg.Logger.Error("local directory broken", "directory", d.dir, "error", err)
	case before != nil && err == nil:
		d.cfg.Logger.Info("local directory usable again", "directory", d.dir)
	}
	d.mu.err = err
}

// setLatencyLocked sets how long a probe took. The directory becomes slow after several slow
// probes in a row, because a busy disk may delay one, and fast again after as many fast ones.
// Between SlowProbe and its half it stays what it is.
func (d *disk) setLatencyLocked(latency time.Duration) {
	d.mu.latency = latency
	contrary := latency > d.cfg.SlowProbe
	if d.mu.slow {
		contrary = latency <= d.cfg.SlowProbe/2
	}
	if !contrary {
		d.mu.contrary = 0
		return
	}
	if d.mu.contrary++; d.mu.contrary < d.cfg.SlowProbes {
		return
	}
	d.mu.slow, d.mu.contrary = !d.mu.slow, 0
	if d.mu.slow {
		d.cfg.Logger.Error("local directory slow", "directory", d.dir, "probe", latency, "limit", d.cfg.SlowProbe)
		return
	}
	d.cfg.Logger.Info("local directory fast again", "directory", d.dir, "probe", latency)
}

// errFull marks a directory that works but has too little free space.
var errFull = errors.New("too full")

// checkLocked returns why the directory accepts no attempt, nil if it accepts one.
func (d *disk) checkLocked() error {
	switch {
	case !d.mu.since.IsZero() && time.Since(d.mu.since) > d.cfg.WriteTimeout:
		return fmt.Errorf("%s: a write has not ended after %v", d.dir, d.cfg.WriteTimeout)
	case d.mu.err != nil:
		return withDir(d.dir, d.mu.err)
	case d.mu.free < d.mu.minFree || d.mu.free == 0:
		return fmt.Errorf("%s: %w: %d MiB are free, a task needs at least %d MiB", d.dir, errFull, d.mu.free>>20, d.mu.minFree>>20)
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

// setMinFree sets how many bytes must be free.
func (d *disk) setMinFree(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.minFree = bytes
}

// add adds to the number of attempts in the directory; attempts is negative when they end.
func (d *disk) add(attempts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.attempts += attempts
}

// state returns a copy of the state for heartbeats and decisions. Its Err does not consider
// whether the directory is slow, because that depends on the other directories.
func (d *disk) state() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Dir: d.dir, Free: d.mu.free, Total: d.mu.total, Err: d.checkLocked(), Latency: d.mu.latency, Slow: d.mu.slow}
	s.Full = errors.Is(s.Err, errFull)
	s.freePerAttempt = d.mu.free / int64(d.mu.attempts+1)
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
