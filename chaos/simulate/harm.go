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

// place is where a daemon suffers something inside: a failpoint, or a kind of fault. A
// second harm at a place takes the place of the first.
type place struct {
	master bool
	node   int // number of the daemon, from 0
	name   string
}

// harm is what a daemon suffers.
type harm struct {
	fault *fault
	of    chaos.Fault
	until int64 // when it is over; 0 for never

	hits    int64 // that have come there
	came    bool  // something has happened
	entries int64 // of the log meanwhile, of a master at snapshot
}

// harm has a daemon suffer something inside of it, for as long as the fault lasts.
func (p *play) harm(w *sim.World, i int, at place) {
	h := &harm{fault: &p.faults[i], of: p.plan.Faults[i]}
	h.fault.harms = append(h.fault.harms, h)
	if at.name = h.of.Point; at.name == "" {
		at.name = string(h.of.Kind)
		h.fault.happened(w)
	}
	p.inside[at] = h
	if h.of.For > 0 {
		h.until = w.Time() + h.of.For.Milliseconds()
	}
	lasts(w, h.of, func() { delete(p.inside, at) })
	if at.name == heartbeat {
		p.beatLater(w, at, h)
	}
}

// attemptPlaces are the names of what an attempt may come to at a place, in order. Only
// maps write segments.
func attemptPlaces(v sim.Visit) []string {
	disk := []string{string(chaos.FullDisk), string(chaos.IOError), string(chaos.SlowDisk)}
	switch {
	case v.Place == sim.AtLaunch:
		return []string{"tasknode/launch"}
	case v.Place == sim.AtCheckpoint:
		return append(disk, "task/checkpoint-write")
	case v.Attempt.Task.Stage == "m":
		return append(disk, "task/spill", "task/segment-commit", "task/done")
	}
	return append(disk, "task/done")
}

// masterPlaces are likewise those of a master.
var masterPlaces = map[sim.Place][]string{
	sim.AtAppend:      {logAppend, snapshot, string(chaos.SlowDisk)},
	sim.AtCommitBegin: {"jobmaster/commit-begin"},
	sim.AtCommitFile:  {"jobmaster/commit-file"},
	sim.AtCommitEnd:   {"jobmaster/commit-end"},
}

// visited has somebody come to a place, and suffer there.
func (p *play) visited(w *sim.World, v sim.Visit) (sum sim.Effect) {
	if len(p.inside) == 0 {
		return sum
	}
	at := place{node: v.Node}
	list, master := masterPlaces[v.Place]
	if master {
		at = place{master: true, node: v.Master}
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
func (p *play) suffer(w *sim.World, at place, h *harm, v sim.Visit) sim.Effect {
	if h.of.Kind == chaos.Failpoint {
		return p.failpoint(w, at, h, v.Entries)
	}
	h.hits++
	switch h.of.Kind {
	case chaos.FullDisk:
		return sim.Effect{Fail: "no space left on device"}
	case chaos.IOError:
		if h.hits%(chaos.IOErrorOneOf/diskOperations) != 0 {
			return sim.Effect{}
		}
		return sim.Effect{Fail: "input/output error"}
	}
	if at.master { // which writes once
		return sim.Effect{Delay: h.of.By.Milliseconds()}
	}
	return sim.Effect{Delay: diskOperations * h.of.By.Milliseconds()}
}
