package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.FullDisk] = simulation{
		machine: activate, disk: true,
		effect: func(*player, *sim.Simulation, faultPoint, *activeFault, sim.FailpointHit) sim.Effect {
			return sim.Effect{Fail: "no space left on device"}
		},
	}
}
