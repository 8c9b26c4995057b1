package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// missing tells, for as long as a failpoint is set, why nothing has happened there:
// "" once something has. What a crash leaves is another process, or none.
func (d *drill) missing(ctx context.Context, f chaos.Fault, names []string) func(context.Context) string {
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
			gone := errors.Is(err, rig.ErrNotRunning) || err == nil && d.pid(ctx, name) != pid
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
		return fmt.Sprintf("it was come to %d times, as far as anybody knows", most)
	}
}

func (d *drill) hits(ctx context.Context, name, point string) (int64, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return d.rig.Hits(call, name, point)
}

// pid is a daemon's process, 0 where nobody answers.
func (d *drill) pid(ctx context.Context, name string) int {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pid, err := d.rig.PID(call, name)
	if err != nil {
		return 0
	}
	return pid
}
