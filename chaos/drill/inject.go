package drill

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos"
)

// injection is a fault that has been injected.
type injection struct {
	target string
	at     time.Time
	hit    []runningAttempt                // what ran there, if the fault silences it
	undo   func(ctx context.Context) error // nil if nothing is to be undone
	// missed, called before undo, is why the fault has had no effect, "" if it has had
	// one; nil if it has had one already.
	missed func(ctx context.Context) string
}

// inject injects a fault. The error wraps errNoTarget if there is nothing to hit.
func (d *drill) inject(ctx context.Context, f chaos.Fault) (injection, error) {
	kind := injectors[f.Kind]
	if f.Target.Role == chaos.Task {
		return kind.injectTask(ctx, d, f)
	}
	names, err := d.targetDaemons(ctx, f.Target)
	if err != nil {
		return injection{}, err
	}
	if kind.needsRunning && !slices.ContainsFunc(names, d.rig.Running) {
		return injection{}, errNoTarget
	}
	in := injection{target: strings.Join(names, "+")}
	if kind.missed != nil {
		in.missed = kind.missed(ctx, d, f, names)
	}
	if stopsAttempts(f) {
		in.hit = d.watch.runningOn(names)
	}
	err = kind.inject(d, f)(ctx, names)
	in.at = time.Now()
	if kind.undo != nil {
		in.undo = func(ctx context.Context) error { return kind.undo(d, f)(ctx, names) }
	}
	if kind.undoAtOnce && err == nil {
		err, in.undo = in.undo(ctx), nil
	}
	return in, err
}
