package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Corrupt] = simulation{
		machine: func(_ *player, w *sim.Simulation, _, node int) bool { return w.CorruptOutput(node) },
	}
}
