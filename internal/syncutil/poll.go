package syncutil

import (
	"context"
	"time"
)

// Poll calls check at once and then at every interval, until it reports true or fails.
// It returns the error of check, or the cause of ctx's end.
func Poll(ctx context.Context, interval time.Duration, check func(ctx context.Context) (done bool, err error)) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if done, err := check(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
