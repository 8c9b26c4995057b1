package launch

import (
	"context"
	"errors"
	"slices"
)

// Step starts a part of a cluster, such as all masters, and returns when it is ready.
type Step struct {
	Start func(ctx context.Context) error
	// Undo ends what Start has started, all of it or the part before an error. Default nothing.
	Undo func(ctx context.Context) error
}

// InOrder starts steps one after the other. If one fails, it undoes that one and those before
// it, latest first, also if ctx has ended. left is why steps could not be undone, after which it
// has continued with the others.
func InOrder(ctx context.Context, steps ...Step) (err, left error) {
	for i, step := range steps {
		if err = step.Start(ctx); err == nil {
			continue
		}
		for _, started := range slices.Backward(steps[:i+1]) {
			if started.Undo != nil {
				left = errors.Join(left, started.Undo(context.WithoutCancel(ctx)))
			}
		}
		return err, left
	}
	return nil, nil
}
