package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.SlowDisk] = simulation{
		machine: activate, master: activateOnMaster, disk: true,
		effect: func(_ *player, _ *sim.Simulation, at faultPoint, a *activeFault, _ sim.FailpointHit) sim.Effect {
			operations := int64(diskOperations)
			if at.master {
				operations = 1 // it writes once
			}
			return sim.Effect{Delay: operations * a.spec.By.Milliseconds()}
		},
	}
}
