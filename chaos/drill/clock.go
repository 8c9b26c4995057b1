package drill

import (
	"context"

	"github.com/hammr/hammr/chaos"
)

func init() {
	injectors[chaos.Clock] = injector{inject: func(d *drill, f chaos.Fault) action {
		return ifReachable(func(ctx context.Context, name string) error { return d.rig.JumpClock(ctx, name, f.By) })
	}}
}
