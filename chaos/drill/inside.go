package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// ioErrorOneOf is of how many operations one fails.
const ioErrorOneOf = 20

// inside is what faults do that daemons suffer inside, and what undoes it. One that
// does not answer, because another fault has hit it, is tried again; one that is
// gone has forgotten everything.
func (d *drill) inside(f chaos.Fault) (hit, undo deed) {
	r := d.rig
	slow := func(by time.Duration) deed {
		return each(func(ctx context.Context, name string) error { return r.SlowDisk(ctx, name, by) })
	}
	failing := func(oneOf int) deed {
		return each(func(ctx context.Context, name string) error { return r.IOErrors(ctx, name, oneOf) })
	}
	switch f.Kind {
	case chaos.SlowDisk:
		return ifThere(slow(f.By)), persistently(slow(0))
	case chaos.IOError:
		return ifThere(failing(ioErrorOneOf)), func(ctx context.Context, names []string) error {
			// A daemon ends that cannot write, and is started again as people would.
			return errors.Join(persistently(failing(0))(ctx, names), r.Start(ctx, names))
		}
	}
	return ifThere(each(func(ctx context.Context, name string) error { return r.JumpClock(ctx, name, f.By) })), nil
}

// ifThere has a deed that nobody answers be one that had nothing to hit.
func ifThere(do deed) deed {
	return func(ctx context.Context, names []string) error {
		call, cancel := context.WithTimeout(ctx, answerPatience)
		defer cancel()
		err := do(call, names)
		if errors.Is(err, rig.ErrNotRunning) || err != nil && call.Err() != nil {
			return fmt.Errorf("%w: %w", errNothing, err)
		}
		return err
	}
}

// persistently has each daemon be tried until it answers, is gone, or ctx ends.
func persistently(do deed) deed {
	return each(func(ctx context.Context, name string) error {
		for {
			call, cancel := context.WithTimeout(ctx, answerPatience)
			err := do(call, []string{name})
			cancel()
			switch {
			case err == nil || errors.Is(err, rig.ErrNotRunning):
				return nil
			case ctx.Err() != nil:
				return err
			}
			<-call.Done()
		}
	})
}
