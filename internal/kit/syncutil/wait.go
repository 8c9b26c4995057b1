package syncutil

import (
	"context"
	"errors"
	"sync"
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

// Each calls do for all elements, for at most a number of them at once, and returns all errors in
// the order of the elements. After a failure it continues with the others. 0 is no limit.
func Each[T any](list []T, atOnce int, do func(T) error) error {
	if atOnce == 0 {
		atOnce = len(list)
	}
	errs := make([]error, len(list))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, element := range list {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			errs[i] = do(element)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
