package drill

import (
	"context"
	"time"

	"github.com/hammr/hammr/chaos"
)

func init() {
	injectors[chaos.SlowDisk] = injector{
		inject: func(d *drill, f chaos.Fault) action { return ifReachable(slowDisk(d, f.By)) },
		undo:   func(d *drill, _ chaos.Fault) action { return untilReached(slowDisk(d, 0)) },
	}
}

func slowDisk(d *drill, by time.Duration) daemonCall {
	return func(ctx context.Context, name string) error { return d.rig.SlowDisk(ctx, name, by) }
}
