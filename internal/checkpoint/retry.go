package checkpoint

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// RetryPolicy is how often a source is asked again that does not answer.
type RetryPolicy struct {
	Timeout  time.Duration // after which the source is given up
	MaxDelay time.Duration // between two requests
}

// firstDelay is the delay before the first retry. It doubles with each further one.
const firstDelay = 100 * time.Millisecond

// Do calls try until it succeeds or fails for good. It repeats errors of the network
// until Timeout, and damaged data once: the network may have damaged it.
func (p RetryPolicy) Do(ctx context.Context, try func() error) error {
	longest := min(p.MaxDelay, p.Timeout/4)
	begun, damaged := time.Now(), false
	for delay := min(firstDelay, longest); ; delay = min(2*delay, longest) {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after, later := transfer.RetryLater(err)
		switch {
		case errors.Is(err, storage.ErrCorrupt) && !damaged:
			damaged = true
		case later && time.Since(begun) < p.Timeout:
			wait(ctx, max(after, delay))
		default:
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
