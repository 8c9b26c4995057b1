package tasknoded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

const (
	// drainPoll is the time between two questions whether anything is left.
	drainPoll = 250 * time.Millisecond
	// leaderTimeout bounds the search for a leader, because nothing can be moved without one: the
	// whole cluster may be stopping.
	leaderTimeout = 10 * time.Second
)

// stopDrained returns the context in which the tasknode runs. With DrainOnStop it ends later than
// ctx:
//
//	ctx ends ─► the leader drains this tasknode ─► nothing is left ───────┐
//	                │ it refuses, or there is none; DrainOnStop is over ──┴─► the context ends
//
// The goroutine that drains is counted in running; end ends it.
func (d *Daemon) stopDrained(ctx context.Context, running *sync.WaitGroup) (drained context.Context, end context.CancelFunc) {
	if d.cfg.DrainOnStop == 0 {
		return ctx, func() {}
	}
	drained, end = context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() {
		defer end()
		select {
		case <-drained.Done(): // the masters have refused this tasknode
		case <-ctx.Done():
			d.drain(drained)
		}
	})
	return drained, end
}

// drain moves everything off this tasknode, for at most DrainOnStop. A tasknode that cannot be
// drained stops all the same.
func (d *Daemon) drain(ctx context.Context) {
	began := time.Now()
	d.cfg.Logger.Info("tasknode is drained before it stops", "at most", d.cfg.DrainOnStop)
	ctx, cancel := context.WithTimeoutCause(ctx, d.cfg.DrainOnStop, errors.New("--drain-on-stop is over"))
	defer cancel()
	left, err := d.awaitDrained(ctx)
	if err != nil {
		d.cfg.Logger.Warn("tasknode stops before it is drained", "error", err,
			"attempts", len(left.Attempts), "outputs", len(left.Outputs), "checkpoints", len(left.Checkpoints))
		return
	}
	d.cfg.Logger.Info("tasknode is drained", "after", time.Since(began).Round(time.Millisecond))
}

// awaitDrained drains this tasknode until its next start. It returns when nothing is left; after
// an error it returns what was left when the leader answered last.
func (d *Daemon) awaitDrained(ctx context.Context) (left apidoc.Tasknode, err error) {
	calls := d.masterCalls()
	if err := whileLed(ctx, calls.drain); err != nil {
		return left, err
	}
	err = syncutil.Poll(ctx, drainPoll, func(ctx context.Context) (bool, error) {
		var n apidoc.Tasknode
		err := whileLed(ctx, func(ctx context.Context) (err error) {
			n, err = calls.status(ctx)
			return err
		})
		switch {
		case err != nil:
			return false, err
		case n.State == decommissioned:
			return true, nil
		case n.Lost || !n.Draining:
			return false, fmt.Errorf("its state is %s, and it is not drained any more", n.State)
		}
		left = n
		return false, nil
	})
	return left, err
}

// whileLed makes a call to the leader. It does not search for a leader for long.
func whileLed(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, leaderTimeout, errors.New("no leading master answers"))
	defer cancel()
	return call(ctx)
}
