package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Partition] = simulation{
		machine: func(p *player, w *sim.Simulation, i, node int) bool {
			afterFault(w, p.plan.Faults[i], w.Partition(node))
			return true
		},
		master: isolateMaster,
	}
}
