package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Kill] = simulation{
		task: func(p *player, w *sim.Simulation, f chaos.Fault) (string, error) {
			_, a := p.attempt(w, f.Target.Name)
			if a == nil {
				return "", errNoTarget
			}
			w.FailAttempt(a.ID, "signal: killed")
			return a.ID.String(), nil
		},
		machine: func(p *player, w *sim.Simulation, i, node int) bool {
			w.FailMachine(node, p.plan.Faults[i].For.Milliseconds())
			return true
		},
		master: isolateMaster,
	}
}
