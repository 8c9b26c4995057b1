package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

// simulation is what one kind of fault does in the simulator. Each kind registers its
// own in a file of its name.
type simulation struct {
	// task acts on a running attempt, and returns its id; nil for kinds that do not.
	task func(p *player, w *sim.Simulation, f chaos.Fault) (target string, err error)
	// machine acts on a machine or its tasknode, and reports whether there was
	// something to hit. master acts on a master. nil for kinds that do not.
	machine func(p *player, w *sim.Simulation, i, node int) bool
	master  func(p *player, w *sim.Simulation, i, master int)
	// effect is what an attempt or a master suffers at a place where the fault is
	// active; nil for kinds that are not activated.
	effect func(p *player, w *sim.Simulation, at faultPoint, a *activeFault, v sim.FailpointHit) sim.Effect
	// disk faults are active wherever an attempt writes.
	disk bool
}

var simulations = make(map[chaos.Kind]simulation)

// activate makes a fault active on a machine until it ends.
func activate(p *player, w *sim.Simulation, i, node int) bool {
	p.activate(w, i, faultPoint{node: node})
	return true
}

func activateOnMaster(p *player, w *sim.Simulation, i, master int) {
	p.activate(w, i, faultPoint{master: true, node: master})
}

// isolateMaster removes a master until the fault ends.
func isolateMaster(p *player, w *sim.Simulation, i, master int) {
	afterFault(w, p.plan.Faults[i], w.IsolateMaster(master))
}
