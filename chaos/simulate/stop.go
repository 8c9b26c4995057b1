package simulate

import (
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Stop] = simulation{task: stopTask, machine: stopMachine, master: isolateMaster}
}

func stopTask(p *player, w *sim.Simulation, f chaos.Fault) (string, error) {
	_, a := p.attempt(w, f.Target.Name)
	if a == nil {
		return "", errNoTarget
	}
	stopProcess(w, f, a.ID)
	return a.ID.String(), nil
}

// stopMachine silences a tasknode. Its tasks run on, unless the whole machine stops.
func stopMachine(p *player, w *sim.Simulation, i, node int) bool {
	f := p.plan.Faults[i]
	if f.Target.Role == chaos.Machine {
		for _, id := range w.AttemptsOn(node) {
			stopProcess(w, f, id)
		}
	}
	afterFault(w, f, w.Partition(node))
	return true
}

// stopProcess stops the process of an attempt, which fails if it makes no progress for too
// long.
func stopProcess(w *sim.Simulation, f chaos.Fault, id cluster.AttemptID) {
	resume, resumed := w.StopProcess(id), false
	afterFault(w, f, func() { resumed = true; resume() })
	timeOut(w, id, func() bool { return resumed })
}

// timeOut fails an attempt that makes no progress, unless it has resumed. A master that
// is elected meanwhile waits for the whole time again.
func timeOut(w *sim.Simulation, id cluster.AttemptID, resumed func() bool) {
	w.After(timeoutMillis, func() {
		_, _, a, ok := w.View().Attempt(id)
		if resumed() || !ok || !a.Active() {
			return
		}
		failure := cluster.Failure{Cause: fmt.Sprintf("Task %v failed to report status for %d ms", id, timeoutMillis), Offset: -1}
		if !a.Suspended() {
			w.Request(cluster.FailAttempt{Attempt: id, OnMachine: true, Failure: failure})
		}
		w.WhenLeaderElected(func() { timeOut(w, id, resumed) })
	})
}
