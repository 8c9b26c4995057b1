package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

// Failpoints with a model of their own.
const (
	heartbeat = "tasknode/heartbeat"
	snapshot  = "jobmaster/snapshot"
	logAppend = "jobmaster/log-append"
)

// snapshotEntries is the number of log entries between two snapshots of a master, as in
// real drills.
const snapshotEntries = 4

// diskOperations is the number of disk operations of an attempt.
const diskOperations = 5

// faultPoint is a place inside a daemon where a fault is active: a failpoint, or a kind of
// fault. A second fault at a point replaces the first.
type faultPoint struct {
	master bool
	node   int // number of the daemon, from 0
	name   string
}

// activeFault is a fault inside a daemon.
type activeFault struct {
	fault *faultState
	spec  chaos.Fault
	until int64 // when it ends; 0 for never

	hits      int64 // of its point so far
	hadEffect bool
	entries   int64 // of the log since it is active, for a master's snapshot
}

// activate makes a fault active at a point inside a daemon until it ends.
func (p *player) activate(w *sim.Simulation, i int, at faultPoint) {
	a := &activeFault{fault: &p.faults[i], spec: p.plan.Faults[i]}
	a.fault.active = append(a.fault.active, a)
	if at.name = a.spec.Point; at.name == "" {
		at.name = string(a.spec.Kind)
		a.fault.markEffect(w)
	}
	p.inside[at] = a
	if a.spec.For > 0 {
		a.until = w.Time() + a.spec.For.Milliseconds()
	}
	afterFault(w, a.spec, func() { delete(p.inside, at) })
	if at.name == heartbeat {
		p.scheduleHeartbeat(w, at, a)
	}
}

// diskFaults are the kinds that are active wherever an attempt writes.
func diskFaults() (names []string) {
	for _, kind := range chaos.Kinds() {
		if simulations[kind].disk {
			names = append(names, string(kind))
		}
	}
	return names
}

// attemptPoints are the names of the points that an attempt hits at a place of the
// simulator, in order. Only maps write segments.
func attemptPoints(v sim.FailpointHit) []string {
	switch {
	case v.Failpoint == sim.AtLaunch:
		return []string{"tasknode/launch"}
	case v.Failpoint == sim.AtCheckpoint:
		return append(diskFaults(), "task/checkpoint-write")
	case v.Attempt.Task.Stage == "m":
		return append(diskFaults(), "task/spill", "task/segment-commit", "task/done")
	}
	return append(diskFaults(), "task/done")
}

// masterPoints are those of a master.
var masterPoints = map[sim.Failpoint][]string{
	sim.AtAppend:      {logAppend, snapshot, string(chaos.SlowDisk)},
	sim.AtCommitBegin: {"jobmaster/commit-begin"},
	sim.AtCommitFile:  {"jobmaster/commit-file"},
	sim.AtCommitEnd:   {"jobmaster/commit-end"},
}

// hit sums up the effects of the faults that are active where an attempt or a master is.
func (p *player) hit(w *sim.Simulation, v sim.FailpointHit) (sum sim.Effect) {
	if len(p.inside) == 0 {
		return sum
	}
	at := faultPoint{node: v.Machine}
	list, master := masterPoints[v.Failpoint]
	if master {
		at = faultPoint{master: true, node: v.Master}
	} else {
		list = attemptPoints(v)
	}
	for _, at.name = range list {
		a := p.inside[at]
		if a == nil {
			continue
		}
		effect := simulations[a.spec.Kind].effect(p, w, at, a, v)
		if sum.Delay += effect.Delay; sum.Fail == "" {
			sum.Fail = effect.Fail
		}
	}
	return sum
}
