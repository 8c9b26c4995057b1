package simulate

import (
	"maps"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/sim"
)

// Failpoints with a model of their own.
var (
	heartbeat = failpoint.TasknodeHeartbeat.String()
	snapshot  = failpoint.MasterSnapshot.String()
)

// snapshotEntries is the number of log entries between two snapshots of a master, as in
// real drills.
const snapshotEntries = 4

// faultPoint is a place inside a daemon where a fault is active. A second fault at a point
// replaces the first.
type faultPoint struct {
	master bool
	number int    // of the daemon, from 0
	name   string // of a failpoint, or of a kind of fault that disturbs writes
}

// activeFault is a fault inside a daemon. It ends with the daemon, or at the time in until.
//
//	activate ──► active ──► hit 1, 2, … ──► Effect of the kind
//	               │
//	               └──► gone: Fault.For has passed, the daemon has crashed, or a later
//	                    fault has replaced it at its point
type activeFault struct {
	fault *faultState
	spec  chaos.Fault
	until int64 // when it ends; 0 for never

	hits      int64 // of its point so far
	hadEffect bool
	entries   int64 // of the log since it is active, for a master's snapshot
}

// activate makes a fault active at a point inside a daemon until it ends. A failpoint has
// an effect at its first hit only, other kinds at once. The end of a replaced fault also
// ends the fault that replaced it, as on a real daemon, where a point has one action:
// clearing the point clears whatever is set there.
func (p *player) activate(w *sim.Simulation, i int, at faultPoint) {
	a := &activeFault{fault: &p.faults[i], spec: p.plan.Faults[i]}
	a.fault.active = append(a.fault.active, a)
	if at.name = a.spec.Point; at.name == "" {
		at.name = string(a.spec.Kind)
		a.markEffect(w)
	}
	p.inside[at] = a
	if a.spec.For > 0 {
		a.until = w.Time() + a.spec.For.Milliseconds()
		w.After(a.spec.For.Milliseconds(), func() { delete(p.inside, at) })
	}
	if at.name == heartbeat {
		p.scheduleHeartbeat(w, at, a)
	}
}

// markEffect records the moment of the first effect; recovery is measured from there.
func (a *activeFault) markEffect(w *sim.Simulation) {
	if !a.hadEffect {
		a.hadEffect = true
		a.fault.markEffect(w)
	}
}

// writeFaults returns the kinds that disturb each write of an attempt and each append to the
// log of a master. Their points have the names of the kinds.
func writeFaults() (names []string) {
	for _, kind := range chaos.Kinds() {
		if kind != chaos.Failpoint && chaos.SpecOf(kind).Effect != nil {
			names = append(names, string(kind))
		}
	}
	return names
}

// pointsAt returns the names of the points that an attempt or a master hits at a place of the
// simulator, in order. Only maps write segments.
func pointsAt(v sim.FailpointHit) []string {
	at := func(writes []string, points ...failpoint.Point) []string {
		for _, point := range points {
			writes = append(writes, point.String())
		}
		return writes
	}
	switch v.Failpoint {
	case sim.AtAppend:
		return append(at(nil, failpoint.MasterAppend, failpoint.MasterSnapshot), writeFaults()...)
	case sim.AtCommitBegin:
		return at(nil, failpoint.MasterCommitBegin)
	case sim.AtCommitFile:
		return at(nil, failpoint.MasterCommitFile)
	case sim.AtCommitEnd:
		return at(nil, failpoint.MasterCommitEnd)
	case sim.AtLaunch:
		return at(nil, failpoint.TasknodeLaunch)
	case sim.AtCheckpoint:
		return at(writeFaults(), failpoint.TaskCheckpoint)
	}
	if v.Attempt.Task.Stage == "m" {
		return at(writeFaults(), failpoint.TaskSpill, failpoint.TaskSegment, failpoint.TaskDone)
	}
	return at(writeFaults(), failpoint.TaskDone)
}

// hit sums up the effects of all active faults at the failpoint that an attempt or a master
// hits. Delays add up, and the first failure counts.
//
// It is called at each failpoint of each attempt, so it returns first if nothing is active.
func (p *player) hit(w *sim.Simulation, v sim.FailpointHit) (sum sim.Effect) {
	if len(p.inside) == 0 {
		return sum
	}
	at := faultPoint{number: v.Machine}
	if v.Failpoint >= sim.AtAppend {
		at = faultPoint{master: true, number: v.Master}
	}
	for _, at.name = range pointsAt(v) {
		a := p.inside[at]
		if a == nil {
			continue
		}
		effect := a.effect(w, at, v.Entries)
		if effect.Crash {
			p.crash(w, at, a)
		}
		if sum.Delay += effect.Delay; sum.Fail == "" {
			sum.Fail = effect.Fail
		}
	}
	return sum
}

// effect returns the effect of a hit at a fault's point. A master hits its snapshot once for
// every snapshotEntries entries of its log.
func (a *activeFault) effect(w *sim.Simulation, at faultPoint, entries int) chaos.Effect {
	before := a.hits
	if at.name == snapshot {
		a.entries += int64(entries)
		a.hits = a.entries / snapshotEntries
	} else {
		a.hits++
	}
	if !a.spec.ActsBetween(before, a.hits) {
		return chaos.Effect{}
	}
	a.markEffect(w)
	return chaos.SpecOf(a.spec.Kind).Effect(a.spec, chaos.Hit{Number: a.hits, Master: at.master})
}

// crash ends a daemon and with it all faults inside. It starts again when the fault ends. A
// fault without an end leaves the daemon down for the rest of the run. A fault that ends in
// this very millisecond brings it back after 1 ms, since 0 means never.
func (p *player) crash(w *sim.Simulation, at faultPoint, a *activeFault) {
	maps.DeleteFunc(p.inside, func(other faultPoint, _ *activeFault) bool {
		return other.master == at.master && other.number == at.number
	})
	back := int64(0)
	if a.until > 0 {
		back = max(1, a.until-w.Time())
	}
	if !at.master {
		w.FailMachine(at.number, back)
		return
	}
	if end := w.IsolateMaster(at.number); back > 0 {
		w.After(back, end)
	}
}

// scheduleHeartbeat makes a tasknode hit its next heartbeats while the fault is active. A
// heartbeat that is left out, or late, is silence until the next one.
//
// Package sim has no events for heartbeats: reports of tasknodes arrive without them. Only a
// fault at this point makes them explicit. They end with the fault, with the machine and at
// the plan's limit, so that a run ends at all.
func (p *player) scheduleHeartbeat(w *sim.Simulation, at faultPoint, a *activeFault) {
	w.After(heartbeatMillis, func() {
		if p.inside[at] != a || !w.IsMachineUp(at.number) || w.Time() > p.plan.Limit.Milliseconds() {
			return
		}
		effect := a.effect(w, at, 0)
		if effect.Crash {
			p.crash(w, at, a)
			return
		}
		late := effect.Delay
		if effect.Fail != "" {
			late = heartbeatMillis
		}
		p.scheduleHeartbeat(w, at, a)
		if late > 0 {
			w.After(late, w.Partition(at.number))
		}
	})
}
