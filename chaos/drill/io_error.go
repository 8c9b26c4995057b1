package drill

import (
	"context"

	"github.com/hammr/hammr/chaos"
)

func init() {
	injectors[chaos.IOError] = injector{
		inject: func(d *drill, _ chaos.Fault) action { return ifReachable(ioErrors(d, chaos.IOErrorOneOf)) },
		undo:   func(d *drill, f chaos.Fault) action { return d.thenRestart(f, untilReached(ioErrors(d, 0))) },
	}
}

func ioErrors(d *drill, oneOf int) daemonCall {
	return func(ctx context.Context, name string) error { return d.rig.IOErrors(ctx, name, oneOf) }
}
