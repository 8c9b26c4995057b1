package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

// A clock that jumps changes nothing: masters measure how much time passes, and a
// tasknode only reports by how much its clock differs.
func init() {
	simulations[chaos.Clock] = simulation{
		machine: func(*player, *sim.Simulation, int, int) bool { return true },
		master:  func(*player, *sim.Simulation, int, int) {},
	}
}
