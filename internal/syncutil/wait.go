package syncutil

import (
	"context"
	"time"
)

// Sleep waits for d. If ctx ends first, it returns the cause. If d is 0 or negative, it
// returns nil at once, even if ctx has ended.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every calls f at every interval, first after one interval, until ctx ends. Intervals that
// pass while f runs are skipped.
func Every(ctx context.Context, interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

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
