package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/chaos"
)

// linger is how long a commit waits before its first file and behind its last one,
// when something is to go wrong in it: several looks.
const linger = 8 * lookEvery

// slowCommits has masters wait in their commits when a plan has a trigger there, or
// when all reduces are done: without that a job is over before anybody looks. A
// failpoint of the plan at the same point takes its place. A master that does not
// answer goes without.
func (d *drill) slowCommits(ctx context.Context, names []string) {
	if !atEnd(d.plan) {
		return
	}
	masters, _ := d.rig.Names()
	for _, name := range names {
		if !slices.Contains(masters, name) {
			continue
		}
		for _, point := range chaos.CommitEnds() {
			call, cancel := context.WithTimeout(ctx, answerPatience)
			_ = d.rig.Failpoint(call, name, point, fmt.Sprintf("delay=%v", linger)) // without it triggers may be missed, which the verdict tells
			cancel()
		}
	}
}

// atEnd is whether a plan waits for a job that is about to be over.
func atEnd(plan *chaos.Plan) bool {
	return slices.ContainsFunc(plan.Faults, func(f chaos.Fault) bool {
		return f.When.Event == chaos.OfCommit || f.When.Event == chaos.OfReduce && f.When.N == 100
	})
}

// revive starts daemons that were killed, which have forgotten what they were told.
func (d *drill) revive(ctx context.Context, names []string) error {
	err := d.rig.Start(ctx, names)
	d.slowCommits(ctx, names)
	return err
}
