package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/chaos"
)

// commitDelay is how long a commit waits before its first file and behind its last one,
// when something is to go wrong in it: several looks.
const commitDelay = 8 * pollInterval

// slowCommits has masters wait in their commits when a plan has a trigger there, or
// when all reduces are done: without that a job is over before anybody looks. A
// failpoint of the plan at the same point takes its place. A master that does not
// answer goes without.
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
			_ = d.rig.Failpoint(call, name, point, fmt.Sprintf("delay=%v", commitDelay)) // without it triggers may be missed, which the verdict tells
			cancel()
		}
	}
}

// waitsForJobEnd is whether a plan waits for a job that is about to be over.
func waitsForJobEnd(plan *chaos.Plan) bool {
	return slices.ContainsFunc(plan.Faults, func(f chaos.Fault) bool {
		return f.Trigger.Event == chaos.AtCommit || f.Trigger.Event == chaos.AtReduceProgress && f.Trigger.N == 100
	})
}

// restartDaemons starts daemons that were killed, which have forgotten what they were told.
func (d *drill) restartDaemons(ctx context.Context, names []string) error {
	err := d.rig.Start(ctx, names)
	d.slowCommits(ctx, names)
	return err
}
