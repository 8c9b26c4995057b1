package rig

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ErrNotRunning is why nothing was told to a daemon: it does not run.
var ErrNotRunning = errors.New("rig: the daemon does not run")

// inside calls a daemon that runs, at the address of its page. What a daemon is
// told counts for its tasks too, and is forgotten when it ends.
func (r *Rig) inside(name string, call func(page string) error) error {
	if r.hosts != nil {
		return r.insideHost(name, call)
	}
	p, err := r.Process(name)
	switch {
	case err != nil:
		return err
	case !p.Alive():
		return fmt.Errorf("%s: %w", name, ErrNotRunning)
	}
	if err := call(p.HTTP); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// insideHost is inside of a daemon that was attached.
func (r *Rig) insideHost(name string, call func(page string) error) error {
	h, _, err := r.hosts.host(name)
	if err != nil {
		return err
	}
	if err = call(h.Page); errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: %w", name, ErrNotRunning)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// SlowDisk makes each operation of the daemon's own files, on a tasknode those of
// tasks, take longer; 0 ends that.
func (r *Rig) SlowDisk(ctx context.Context, name string, by time.Duration) error {
	return r.inside(name, func(page string) error { return r.faults.SlowDisk(ctx, page, by) })
}

// IOErrors makes one of so many operations of the same files fail; 0 ends that.
func (r *Rig) IOErrors(ctx context.Context, name string, oneOf int) error {
	return r.inside(name, func(page string) error { return r.faults.IOErrors(ctx, page, oneOf) })
}

// JumpClock moves the daemon's clock, back when by is below 0.
func (r *Rig) JumpClock(ctx context.Context, name string, by time.Duration) error {
	return r.inside(name, func(page string) error { return r.faults.JumpClock(ctx, page, by) })
}

// Failpoint sets a point of the daemon, on a tasknode of its tasks, to an action:
// error, crash or delay=TIME, with @N behind it for the N-th hit alone; "" ends
// that. docs/reliability.md lists the points.
func (r *Rig) Failpoint(ctx context.Context, name, point, action string) error {
	return r.inside(name, func(page string) error { return r.faults.SetFailpoint(ctx, page, point, action) })
}

// Hits is how often a point was hit since it was set, or since the daemon began.
func (r *Rig) Hits(ctx context.Context, name, point string) (n int64, err error) {
	err = r.inside(name, func(page string) error {
		hits, err := r.faults.Hits(ctx, page)
		n = hits[point]
		return err
	})
	return n, err
}

// PID is the daemon's process on its machine, as it says itself.
func (r *Rig) PID(ctx context.Context, name string) (pid int, err error) {
	err = r.inside(name, func(page string) error {
		pid, err = r.faults.PID(ctx, page)
		return err
	})
	return pid, err
}

// Clear ends everything that a daemon was told to suffer inside.
func (r *Rig) Clear(ctx context.Context, name string) error {
	return r.inside(name, func(page string) error { return r.faults.Clear(ctx, page) })
}
