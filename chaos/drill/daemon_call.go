package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testcluster"
)

// daemonCall sets or ends a fault inside one daemon. A daemon forgets all such faults
// when it ends.
type daemonCall func(ctx context.Context, name string) error

// thenRestart undoes a fault and starts the daemons that ended because of it.
func (d *drill) thenRestart(f chaos.Fault, undo action) action {
	if !f.EndsDaemon() {
		return undo
	}
	return func(ctx context.Context, names []string) error {
		return errors.Join(undo(ctx, names), d.restartDaemons(ctx, names))
	}
}

// mayEnd accepts that a daemon ends because of the call, before it has answered.
func mayEnd(f chaos.Fault, call daemonCall) daemonCall {
	return func(ctx context.Context, name string) error {
		err := call(ctx, name)
		if f.EndsDaemon() && connectionLost(err) {
			return nil
		}
		return err
	}
}

// connectionLost reports whether a daemon ended during a call.
func connectionLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// ifReachable calls all daemons that answer. The fault has no target if none does.
func ifReachable(call daemonCall) action {
	return func(ctx context.Context, names []string) error {
		var failed, unreachable error
		reached := false
		for _, name := range names {
			bounded, cancel := context.WithTimeout(ctx, callTimeout)
			err := call(bounded, name)
			switch {
			case err == nil:
				reached = true
			case errors.Is(err, testcluster.ErrNotRunning) || connectionLost(err) || bounded.Err() != nil:
				unreachable = errors.Join(unreachable, err)
			default:
				failed = errors.Join(failed, err)
			}
			cancel()
		}
		if reached || failed != nil {
			return failed
		}
		return fmt.Errorf("%w: %w", errNoTarget, unreachable)
	}
}

// untilReached calls each daemon until it answers, is gone, or ctx ends: another fault
// may keep it from answering for a while.
func untilReached(call daemonCall) action {
	return each(func(ctx context.Context, name string) error {
		for {
			bounded, cancel := context.WithTimeout(ctx, callTimeout)
			err := call(bounded, name)
			reached := err == nil || errors.Is(err, testcluster.ErrNotRunning)
			if !reached {
				<-bounded.Done()
			}
			cancel()
			switch {
			case reached:
				return nil
			case ctx.Err() != nil:
				return err
			}
		}
	})
}
