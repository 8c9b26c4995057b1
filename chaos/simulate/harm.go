package simulate

import (
	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/sim"
)

// Points that are played in ways of their own.
const (
	heartbeat = "tasknode/heartbeat"
	snapshot  = "jobmaster/snapshot"
	logAppend = "jobmaster/log-append"
)

// snapshotEntries is how many entries of the log a master writes a snapshot after, as in
// real drills.
const snapshotEntries = 4

// diskOperations is how many operations of a disk an attempt has.
const diskOperations = 5

// faultPoint is where a daemon suffers something inside: a failpoint, or a kind of fault. A
// second harm at a place takes the place of the first.
type faultPoint struct {
	master bool
	node   int // number of the daemon, from 0
	name   string
}

// activeFault is what a daemon suffers.
type activeFault struct {
	fault *faultState
	spec  chaos.Fault
	until int64 // when it is over; 0 for never

	hits      int64 // that have come there
	hadEffect bool  // something has happened
	entries   int64 // of the log meanwhile, of a master at snapshot
}

// harm has a daemon suffer something inside of it, for as long as the fault lasts.
func (p *player) harm(w *sim.Simulation, i int, at faultPoint) {
	h := &activeFault{fault: &p.faults[i], spec: p.plan.Faults[i]}
	h.fault.harms = append(h.fault.harms, h)
	if at.name = h.spec.Point; at.name == "" {
		at.name = string(h.spec.Kind)
		h.fault.markEffect(w)
	}
	p.inside[at] = h
	if h.spec.For > 0 {
		h.until = w.Time() + h.spec.For.Milliseconds()
	}
	afterFault(w, h.spec, func() { delete(p.inside, at) })
	if at.name == heartbeat {
		p.beatLater(w, at, h)
	}
}

// attemptPlaces are the names of what an attempt may come to at a place, in order. Only
// maps write segments.
func attemptPlaces(v sim.FailpointHit) []string {
	disk := []string{string(chaos.FullDisk), string(chaos.IOError), string(chaos.SlowDisk)}
	switch {
	case v.Failpoint == sim.AtLaunch:
		return []string{"tasknode/launch"}
	case v.Failpoint == sim.AtCheckpoint:
		return append(disk, "task/checkpoint-write")
	case v.Attempt.Task.Stage == "m":
		return append(disk, "task/spill", "task/segment-commit", "task/done")
	}
	return append(disk, "task/done")
}

// masterPlaces are likewise those of a master.
var masterPlaces = map[sim.Failpoint][]string{
	sim.AtAppend:      {logAppend, snapshot, string(chaos.SlowDisk)},
	sim.AtCommitBegin: {"jobmaster/commit-begin"},
	sim.AtCommitFile:  {"jobmaster/commit-file"},
	sim.AtCommitEnd:   {"jobmaster/commit-end"},
}

// visited has somebody come to a place, and suffer there.
func (p *player) visited(w *sim.Simulation, v sim.FailpointHit) (sum sim.Effect) {
	if len(p.inside) == 0 {
		return sum
	}
	at := faultPoint{node: v.Machine}
	list, master := masterPlaces[v.Failpoint]
	if master {
		at = faultPoint{master: true, node: v.Master}
	} else {
		list = attemptPlaces(v)
	}
	for _, at.name = range list {
		h := p.inside[at]
		if h == nil {
			continue
		}
		effect := p.suffer(w, at, h, v)
		if sum.Delay += effect.Delay; sum.Fail == "" {
			sum.Fail = effect.Fail
		}
	}
	return sum
}

// suffer is what comes of a harm when its place is come to.
func (p *player) suffer(w *sim.Simulation, at faultPoint, h *activeFault, v sim.FailpointHit) sim.Effect {
	if h.spec.Kind == chaos.Failpoint {
		return p.failpoint(w, at, h, v.Entries)
	}
	h.hits++
	switch h.spec.Kind {
	case chaos.FullDisk:
		return sim.Effect{Fail: "no space left on device"}
	case chaos.IOError:
		if h.hits%(chaos.IOErrorOneOf/diskOperations) != 0 {
			return sim.Effect{}
		}
		return sim.Effect{Fail: "input/output error"}
	}
	if at.master { // which writes once
		return sim.Effect{Delay: h.spec.By.Milliseconds()}
	}
	return sim.Effect{Delay: diskOperations * h.spec.By.Milliseconds()}
}
