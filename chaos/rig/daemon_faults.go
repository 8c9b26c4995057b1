package rig

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/ops/testcluster"
)

// call calls a daemon at the address of its page. The error wraps testcluster.ErrNotRunning
// if the daemon is gone. Faults inside a daemon apply to its tasks too, and are gone when
// it ends. A refused connection means that the process has ended between the check and the
// call.
func (r *Rig) call(name string, call func(page string) error) error {
	p, err := r.Process(name)
	if err != nil {
		return err
	}
	if !r.Running(name) {
		return fmt.Errorf("%s: %w", name, testcluster.ErrNotRunning)
	}
	if err = call(p.HTTP); errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: %w", name, testcluster.ErrNotRunning)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// SlowDisk makes each operation of the daemon's own files, on a tasknode also those of its
// tasks, take longer; 0 ends the fault.
func (r *Rig) SlowDisk(ctx context.Context, name string, by time.Duration) error {
	return r.call(name, func(page string) error { return r.faults.SlowDisk(ctx, page, by) })
}

// IOErrors makes one in oneOf operations on the same files fail; 0 ends the fault.
func (r *Rig) IOErrors(ctx context.Context, name string, oneOf int) error {
	return r.call(name, func(page string) error { return r.faults.IOErrors(ctx, page, oneOf) })
}

// JumpClock moves the daemon's clock, back if by is negative.
func (r *Rig) JumpClock(ctx context.Context, name string, by time.Duration) error {
	return r.call(name, func(page string) error { return r.faults.JumpClock(ctx, page, by) })
}

// Failpoint sets a point of the daemon, on a tasknode also of its tasks, to an action:
// error, crash or delay=TIME, with @N for only the N-th hit; "" ends the fault.
// docs/reliability.md lists the points.
func (r *Rig) Failpoint(ctx context.Context, name, point, action string) error {
	return r.call(name, func(page string) error { return r.faults.SetFailpoint(ctx, page, point, action) })
}

// Hits returns how often a point was hit since it was set, or since the daemon started.
func (r *Rig) Hits(ctx context.Context, name, point string) (n int64, err error) {
	err = r.call(name, func(page string) error {
		hits, err := r.faults.Hits(ctx, page)
		n = hits[point]
		return err
	})
	return n, err
}

// PID returns the daemon's process on its machine, as the daemon itself reports it.
func (r *Rig) PID(ctx context.Context, name string) (pid int, err error) {
	err = r.call(name, func(page string) error {
		pid, err = r.faults.PID(ctx, page)
		return err
	})
	return pid, err
}

// ClearFaults ends all faults inside a daemon.
func (r *Rig) ClearFaults(ctx context.Context, name string) error {
	return r.call(name, func(page string) error { return r.faults.Clear(ctx, page) })
}
