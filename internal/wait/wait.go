// Package wait waits for a time that may be cut short, and for goroutines that may
// begin while somebody waits for them.
package wait

import (
	"context"
	"time"
)

// For waits for d, or for the end of ctx, whose cause it returns then. It does not
// wait when d is not above 0.
func For(ctx context.Context, d time.Duration) error {
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
