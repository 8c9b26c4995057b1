package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Restart] = simulation{
		machine: func(_ *player, w *sim.Simulation, _, node int) bool {
			w.FailMachine(node, restartMillis)
			return true
		},
		master: func(_ *player, w *sim.Simulation, _, master int) { w.After(restartMillis, w.IsolateMaster(master)) },
	}
}
