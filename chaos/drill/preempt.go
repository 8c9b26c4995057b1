package drill

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/chaos"
)

func init() { injectors[chaos.Preempt] = injector{injectTask: preemptTask, tasks: true} }

// preemptTask takes its slot from a running attempt, as `hammr task preempt` does.
func preemptTask(ctx context.Context, d *drill, f chaos.Fault) (injection, error) {
	a, err := d.drawAttempt(f.Target.Name)
	if err != nil {
		return injection{}, err
	}
	in := injection{target: a.Id}
	call, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	if _, err := d.rig.Client().PreemptAttempt(call, a.Id, string(f.Mode)); err != nil {
		return in, fmt.Errorf("%w: %w", errNoTarget, err)
	}
	in.at = time.Now()
	return in, nil
}
