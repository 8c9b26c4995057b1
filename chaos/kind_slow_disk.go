package chaos

import (
	"context"
	"fmt"
	"time"
)

// diskOperations is the number of disk operations of an attempt in the simulator. A master
// has one for each batch of its log.
const diskOperations = 5

// slowDisk makes each operation of the daemon's own files, on a tasknode also those of its
// tasks, take Fault.By longer.
var slowDisk = KindSpec{
	Kind: SlowDisk, Targets: callable, Lasts: true,

	by: byDuration,
	check: func(f Fault) error {
		if f.By <= 0 {
			return fmt.Errorf("slow-disk by %v: expected how much longer each operation takes, such as 20ms", f.By)
		}
		return nil
	},
	draw: func(r *random, f *Fault) { f.By = r.drawDuration(5*time.Millisecond, 100*time.Millisecond) },

	Inject: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
		return lab.SlowDisk(ctx, daemon, f.By)
	},
	Undo:     func(ctx context.Context, lab Lab, _ Fault, daemon string) error { return lab.SlowDisk(ctx, daemon, 0) },
	InDaemon: true,

	Effect: func(f Fault, hit Hit) Effect {
		operations := int64(diskOperations)
		if hit.Master {
			operations = 1
		}
		return Effect{Delay: operations * f.By.Milliseconds()}
	},
}
