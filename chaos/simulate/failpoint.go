package simulate

import (
	"maps"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/sim"
)

// actionOf reads an action that the plan's check has found in order.
func actionOf(f chaos.Fault) failpoint.Action {
	a, _ := failpoint.ParseAction(f.How)
	return a
}

// come counts those who come to a failpoint, and reports whether something happens.
func (h *activeFault) come(w *sim.Simulation, times int64, nth int64) bool {
	before := h.hits
	h.hits += times
	if times == 0 || nth > 0 && (before >= nth || h.hits < nth) {
		return false
	}
	if !h.hadEffect {
		h.hadEffect = true
		h.fault.markEffect(w)
	}
	return true
}

// failpoint is what comes of one that is come to, of a master's log by so many entries.
func (p *player) failpoint(w *sim.Simulation, at faultPoint, h *activeFault, entries int) sim.Effect {
	times := int64(1)
	if at.name == snapshot {
		h.entries += int64(entries)
		times = h.entries/snapshotEntries - h.hits
	}
	a := actionOf(h.spec)
	if !h.come(w, times, a.Nth()) {
		return sim.Effect{}
	}
	switch {
	case h.spec.EndsDaemon():
		p.crash(w, at, h)
		return sim.Effect{}
	case at.name == snapshot: // nobody waits for one, and the log has it all without
		return sim.Effect{}
	case a.Crashes():
		return sim.Effect{Fail: "signal: killed"}
	case a.Fails():
		return sim.Effect{Fail: "failpoint " + at.name}
	}
	return sim.Effect{Delay: a.Delay().Milliseconds()}
}

// crash ends a daemon. It is started again when the fault is over, and has forgotten
// what else it suffered.
func (p *player) crash(w *sim.Simulation, at faultPoint, h *activeFault) {
	maps.DeleteFunc(p.inside, func(other faultPoint, _ *activeFault) bool { return other.master == at.master && other.node == at.node })
	back := int64(0)
	if h.until > 0 {
		back = max(1, h.until-w.Time())
	}
	if !at.master {
		w.FailMachine(at.node, back)
		return
	}
	if end := w.IsolateMaster(at.node); back > 0 {
		w.After(back, end)
	}
}

// beatLater has a tasknode come to its next sign of life, for as long as something
// happens there. One that is left out, or late, is silence until the next one.
func (p *player) beatLater(w *sim.Simulation, at faultPoint, h *activeFault) {
	a := actionOf(h.spec)
	w.After(heartbeatMillis, func() {
		if p.inside[at] != h || !w.IsMachineUp(at.node) || w.Time() > p.plan.Limit.Milliseconds() {
			return
		}
		late := int64(0)
		switch {
		case !h.come(w, 1, a.Nth()):
		case a.Crashes():
			p.crash(w, at, h)
			return
		case a.Fails():
			late = heartbeatMillis
		default:
			late = a.Delay().Milliseconds()
		}
		p.beatLater(w, at, h)
		if late > 0 {
			w.After(late, w.Partition(at.node))
		}
	})
}
