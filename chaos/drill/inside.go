package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// inside is what faults do that daemons suffer inside, and what undoes it. One that
// does not answer, because another fault has hit it, is tried again; one that is
// gone has forgotten everything.
func (d *drill) inside(f chaos.Fault) (hit, undo deed) {
	r := d.rig
	slow := func(by time.Duration) telling {
		return func(ctx context.Context, name string) error { return r.SlowDisk(ctx, name, by) }
	}
	failing := func(oneOf int) telling {
		return func(ctx context.Context, name string) error { return r.IOErrors(ctx, name, oneOf) }
	}
	point := func(action string) telling {
		return func(ctx context.Context, name string) error { return r.Failpoint(ctx, name, f.Point, action) }
	}
	switch f.Kind {
	case chaos.SlowDisk:
		return ifThere(slow(f.By)), persistently(slow(0))
	case chaos.IOError:
		return ifThere(failing(chaos.IOErrorOneOf)), d.reviving(f, persistently(failing(0)))
	case chaos.Failpoint:
		return ifThere(ending(f, point(f.How))), d.reviving(f, persistently(point("")))
	}
	return ifThere(func(ctx context.Context, name string) error { return r.JumpClock(ctx, name, f.By) }), nil
}

// telling tells a daemon what it suffers.
type telling func(ctx context.Context, name string) error

// reviving has what ends a fault start the daemons that have ended for it, as people
// would.
func (d *drill) reviving(f chaos.Fault, undo deed) deed {
	if !f.EndsDaemon() {
		return undo
	}
	return func(ctx context.Context, names []string) error {
		return errors.Join(undo(ctx, names), d.restartDaemons(ctx, names))
	}
}

// ending has a daemon that ends by what it is told, before it has answered, be one that
// was told.
func ending(f chaos.Fault, tell telling) telling {
	return func(ctx context.Context, name string) error {
		err := tell(ctx, name)
		if f.EndsDaemon() && cutOff(err) {
			return nil
		}
		return err
	}
}

// cutOff reports whether a daemon has ended while it was told something.
func cutOff(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// ifThere tells all that answer. There was nothing to hit when none did.
func ifThere(tell telling) deed {
	return func(ctx context.Context, names []string) error {
		var failed, absent error
		told := false
		for _, name := range names {
			call, cancel := context.WithTimeout(ctx, callTimeout)
			err := tell(call, name)
			switch {
			case err == nil:
				told = true
			case errors.Is(err, rig.ErrNotRunning) || cutOff(err) || call.Err() != nil:
				absent = errors.Join(absent, err)
			default:
				failed = errors.Join(failed, err)
			}
			cancel()
		}
		if told || failed != nil {
			return failed
		}
		return fmt.Errorf("%w: %w", errNoTarget, absent)
	}
}

// persistently tells each daemon until it answers, is gone, or ctx ends.
func persistently(tell telling) deed {
	return each(func(ctx context.Context, name string) error {
		for {
			call, cancel := context.WithTimeout(ctx, callTimeout)
			err := tell(call, name)
			known := err == nil || errors.Is(err, rig.ErrNotRunning)
			if !known {
				<-call.Done()
			}
			cancel()
			switch {
			case known:
				return nil
			case ctx.Err() != nil:
				return err
			}
		}
	})
}
