package syncutil

import (
	"context"
	"time"
)

// Sleep waits for d. If ctx ends first, it returns the cause. With d at 0 or below it
// returns nil at once, whatever ctx says.
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
