package chaos

import (
	"context"
	"errors"
	"time"
)

// clock makes a daemon's time of day jump by Fault.By, back if it is negative, as a wrong
// NTP server does. It is never undone. It has no model in the simulator, where it changes
// nothing: masters measure how much time passes, and a tasknode only reports by how much
// its clock differs.
var clock = KindSpec{
	Kind: Clock, Targets: callable,

	by: byDuration,
	check: func(f Fault) error {
		if f.By == 0 {
			return errors.New("clock: 'by TIME' is missing, such as 5s or -5s")
		}
		return nil
	},
	draw: func(r *random, f *Fault) {
		// Back and forth alike: code that measures durations by the time of day fails for
		// one of the two.
		if f.By = r.drawDuration(time.Second, time.Minute); r.IntN(2) == 0 {
			f.By = -f.By
		}
	},

	Inject: func(ctx context.Context, lab Lab, f Fault, daemon string) error {
		return lab.JumpClock(ctx, daemon, f.By)
	},
	InDaemon: true,
}
