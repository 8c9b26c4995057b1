package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.IOError] = simulation{
		machine: activate, master: isolateMaster, disk: true, // a master that cannot write to its log ends
		effect: func(_ *player, _ *sim.Simulation, _ faultPoint, a *activeFault, _ sim.FailpointHit) sim.Effect {
			if a.hits++; a.hits%(chaos.IOErrorOneOf/diskOperations) != 0 {
				return sim.Effect{}
			}
			return sim.Effect{Fail: "input/output error"}
		},
	}
}
