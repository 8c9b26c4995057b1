package chaos

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// preemption takes its slot from a running attempt, as `hammr task preempt` does. A task
// that cannot obey the mode at that moment is tried again later.
var preemption = KindSpec{
	Kind: Preempt, Targets: []Role{Task},

	by: byMode,
	check: func(f Fault) error {
		if !slices.Contains(preemptModes, f.Mode) {
			return fmt.Errorf("preempt by %q: expected one of %s", f.Mode, join(preemptModes))
		}
		return nil
	},
	draw: func(r *random, f *Fault) { f.Mode = preemptModes[r.IntN(len(preemptModes))] },

	InjectTask: func(ctx context.Context, lab Lab, f Fault) (string, func() error, error) {
		attempt, err := lab.PreemptTask(ctx, f.Target.Name, f.Mode)
		return attempt, nil, err
	},
	RemoteTasks: true,

	SimulateTask: func(s Simulation, f Fault) (string, error) { return s.PreemptTask(f.Target.Name, f.Mode) },
}

// preemptModes are the modes that a user may choose to preempt a task.
var preemptModes = []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}
