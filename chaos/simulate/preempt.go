package simulate

import (
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
)

func init() { simulations[chaos.Preempt] = simulation{task: preemptTask} }

// preemptTask takes its slot from a running attempt, as `hammr task preempt` does.
func preemptTask(p *player, w *sim.Simulation, f chaos.Fault) (string, error) {
	t, a := p.attempt(w, f.Target.Name)
	if a == nil {
		return "", errNoTarget
	}
	refused := false
	switch f.Mode {
	case preempt.Split, preempt.Checkpoint:
		refused = a.State != cluster.AttemptRunning || f.Mode == preempt.Split && !t.Ranged
	case preempt.Suspend:
		refused = a.State != cluster.AttemptRunning || w.View().FirstOverSuspended(w.View().GangOf(a), nil) != nil
	}
	if refused {
		return a.ID.String(), fmt.Errorf("%w: %v cannot be preempted by %s now", errNoTarget, a.ID, f.Mode)
	}
	if !w.Request(cluster.PreemptAttempt{Attempt: a.ID, Mode: f.Mode, Cause: "preempted by the user"}) {
		return a.ID.String(), errNoTarget
	}
	return a.ID.String(), nil
}
