package checkpoint

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// RetryPolicy is with what may pass.
type RetryPolicy struct {
	Timeout  time.Duration // for how long a source is asked that does not answer
	MaxDelay time.Duration // for how long it is left alone at most
}

// firstDelay is how long a source that failed is left alone at first.
const firstDelay = 100 * time.Millisecond

// Do tries again what may pass: faults of the network as long as patience lasts,
// damage once.
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
