package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/chaos"
)

// commitDelay is how long a commit waits before its first file and after its last one in
// plans with faults in it: several poll intervals.
const commitDelay = 8 * pollInterval

// slowCommits delays the commits of masters if a plan has a trigger in them, or in reduces
// that have fetched their input: otherwise a job ends before its status is read again. A failpoint of the
// plan at the same point replaces the delay. A master that does not answer has no delay.
//
// Restarted masters have forgotten the delay and get it again from restartDaemons.
func (d *drill) slowCommits(ctx context.Context, names []string) {
	if !waitsForJobEnd(d.plan) {
		return
	}
	masters, _ := d.rig.Names()
	for _, name := range names {
		if !slices.Contains(masters, name) {
			continue
		}
		for _, point := range chaos.CommitEndPoints() {
			call, cancel := context.WithTimeout(ctx, callTimeout)
			_ = d.rig.Failpoint(call, name, point, fmt.Sprintf("delay=%v", commitDelay)) // without it a trigger may be missed; the verdict says so
			cancel()
		}
	}
}

// waitsForJobEnd reports whether a plan has a trigger near the end of a job. Other plans
// run without the delay, so that they have the usual timing of commits.
func waitsForJobEnd(plan *chaos.Plan) bool {
	return slices.ContainsFunc(plan.Faults, func(f chaos.Fault) bool {
		return f.Trigger.Event == chaos.AtCommit || f.Trigger.Event == chaos.AtReduceProgress && f.Trigger.N > 33
	})
}

// restartDaemons starts killed daemons, which have forgotten the faults inside them. It
// returns when they are ready, so the recovery of a fault includes their start.
func (d *drill) restartDaemons(ctx context.Context, names []string) error {
	err := d.rig.Start(ctx, names...)
	d.slowCommits(ctx, names)
	return err
}
