package simulate

import (
	"maps"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/sim"
)

func init() {
	simulations[chaos.Failpoint] = simulation{machine: activate, master: activateOnMaster, effect: failpointEffect}
}

// actionOf parses an action that the plan's check has accepted.
func actionOf(f chaos.Fault) failpoint.Action {
	a, _ := failpoint.ParseAction(f.Action)
	return a
}

// count counts hits of a failpoint, and reports whether the action happens at one of
// them; nth 0 is at each.
func (a *activeFault) count(w *sim.Simulation, times int64, nth int64) bool {
	before := a.hits
	a.hits += times
	if times == 0 || nth > 0 && (before >= nth || a.hits < nth) {
		return false
	}
	if !a.hadEffect {
		a.hadEffect = true
		a.fault.markEffect(w)
	}
	return true
}

// failpointEffect is the effect of hitting a failpoint. A master hits its snapshot once
// for every snapshotEntries entries of its log.
func failpointEffect(p *player, w *sim.Simulation, at faultPoint, a *activeFault, v sim.FailpointHit) sim.Effect {
	times := int64(1)
	if at.name == snapshot {
		a.entries += int64(v.Entries)
		times = a.entries/snapshotEntries - a.hits
	}
	action := actionOf(a.spec)
	if !a.count(w, times, action.Nth()) {
		return sim.Effect{}
	}
	switch {
	case a.spec.EndsDaemon():
		p.crash(w, at, a)
		return sim.Effect{}
	case at.name == snapshot: // nothing waits for a snapshot, and the log has the same entries
		return sim.Effect{}
	case action.Crashes():
		return sim.Effect{Fail: "signal: killed"}
	case action.Fails():
		return sim.Effect{Fail: "failpoint " + at.name}
	}
	return sim.Effect{Delay: action.Delay().Milliseconds()}
}

// crash ends a daemon and with it all faults inside. It starts again when the fault ends.
func (p *player) crash(w *sim.Simulation, at faultPoint, a *activeFault) {
	maps.DeleteFunc(p.inside, func(other faultPoint, _ *activeFault) bool { return other.master == at.master && other.node == at.node })
	back := int64(0)
	if a.until > 0 {
		back = max(1, a.until-w.Time())
	}
	if !at.master {
		w.FailMachine(at.node, back)
		return
	}
	if end := w.IsolateMaster(at.node); back > 0 {
		w.After(back, end)
	}
}

// scheduleHeartbeat makes a tasknode hit its next heartbeats while the fault is active. A
// heartbeat that is left out, or late, is silence until the next one.
func (p *player) scheduleHeartbeat(w *sim.Simulation, at faultPoint, a *activeFault) {
	action := actionOf(a.spec)
	w.After(heartbeatMillis, func() {
		if p.inside[at] != a || !w.IsMachineUp(at.node) || w.Time() > p.plan.Limit.Milliseconds() {
			return
		}
		late := int64(0)
		switch {
		case !a.count(w, 1, action.Nth()):
		case action.Crashes():
			p.crash(w, at, a)
			return
		case action.Fails():
			late = heartbeatMillis
		default:
			late = action.Delay().Milliseconds()
		}
		p.scheduleHeartbeat(w, at, a)
		if late > 0 {
			w.After(late, w.Partition(at.node))
		}
	})
}
