package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testcluster"
)

func init() {
	injectors[chaos.Failpoint] = injector{
		inject: func(d *drill, f chaos.Fault) action { return ifReachable(mayEnd(f, failpoint(d, f, f.Action))) },
		undo:   func(d *drill, f chaos.Fault) action { return d.thenRestart(f, untilReached(failpoint(d, f, ""))) },
		missed: missedFailpoint,
	}
}

func failpoint(d *drill, f chaos.Fault, action string) daemonCall {
	return func(ctx context.Context, name string) error { return d.rig.Failpoint(ctx, name, f.Point, action) }
}

// missedFailpoint counts hits. A crash leaves another process, or none.
func missedFailpoint(ctx context.Context, d *drill, f chaos.Fault, names []string) func(context.Context) string {
	before := make(map[string]int) // of those that answer
	for _, name := range names {
		if pid := d.pid(ctx, name); pid != 0 {
			before[name] = pid
		}
	}
	return func(ctx context.Context) string {
		var most int64
		for name, pid := range before {
			hits, err := d.hits(ctx, name, f.Point)
			gone := errors.Is(err, testcluster.ErrNotRunning) || err == nil && d.pid(ctx, name) != pid
			if gone && f.EndsDaemon() {
				return ""
			}
			if err == nil && !gone {
				most = max(most, hits)
			}
		}
		if most >= f.TriggerHit() {
			return ""
		}
		return fmt.Sprintf("it was hit %d times, as far as is known", most)
	}
}

func (d *drill) hits(ctx context.Context, name, point string) (int64, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return d.rig.Hits(call, name, point)
}

// pid is a daemon's process, 0 if it does not answer.
func (d *drill) pid(ctx context.Context, name string) int {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pid, err := d.rig.PID(call, name)
	if err != nil {
		return 0
	}
	return pid
}
