// Package preempt chooses how a slot is taken from a running attempt, and knows what
// each mode costs.
//
// A Mode says what happens to the attempt: it keeps the slot (Wait), publishes what it
// has read (Split), writes its state to disk (Checkpoint), is stopped in memory
// (Suspend), or loses its work (Kill). A policy has a Config with a mode for maps and
// one for reduces. It describes a candidate as a Victim and calls Config.Choose, which
// returns a mode that the victim's job allows. With Auto, Choose takes the mode that
// costs least, as in section 4 of the papers on HFSP and Chronos.
//
// The package is pure and imports nothing of this module.
package preempt

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is how a slot is taken from a running attempt.
//
// The mode goes from a policy to the process of the task and back. A new mode needs a case
// at each of these places:
//
//	choice    Modes, AllModes and bit below; Victim.fallback and Config.cheapest (config.go);
//	          Costs; sched/victim: declinedModes, describe and noteTaken
//	allowed   mr disallowedModes (user_code.go, graph_stage.go); cluster/disallowed_modes.go;
//	          jobmaster setPreemption (properties.go)
//	request   jobmaster checkMode and runningAttempt.preempt, which waits for the effect
//	          (change_attempt.go); the properties hammr.job.*.preemption in internal/conf;
//	          the help of newTaskPreempt in cli/task.go
//	state     cluster PreemptAttempt.apply; storedForm and command for the log
//	          (codec_entries.go); attemptRecord for snapshots, which holds whether a mode is
//	          Split: recordAttempt and preemptMode
//	order     control orderChange ─► jobmaster sendOrder ─► wire.Order ─► tasknode
//	          Daemon.execute ─► taskproc.ToTask
//	task      internal/task handlePreempt, and what it answers, see cluster.AttemptState
//	models    sim/machine.go, sim/account.go and outcome in sim/result.go; chaos preemptModes
//	          (kinds.go: random plans draw from it) and chaos/simulate PreemptTask
//
// TestModesInLogsAndSnapshots in package cluster fails for a mode that a log or a snapshot
// loses.
type Mode string

const (
	// Auto is the cheapest mode by Costs. It occurs only in a Config and in a user's
	// request; Choose replaces it by one of the others.
	Auto Mode = "auto"
	// Wait leaves the slot to the attempt until it has finished.
	Wait Mode = "wait"
	// Split makes a map publish what it has read; the rest becomes a new task
	// (earlyEnd: Chronos, section 4).
	Split Mode = "split"
	// Checkpoint makes an attempt write its state to the disk of its machine and exit.
	// Its task resumes from there in another attempt.
	Checkpoint Mode = "checkpoint"
	// Suspend stops an attempt's process. It keeps its memory and resumes on the same
	// machine.
	Suspend Mode = "suspend"
	// Kill ends an attempt at once; its work is lost.
	Kill Mode = "kill"
)

// Modes lists all modes that a user may name, in the order of help texts.
var Modes = []Mode{Auto, Wait, Split, Checkpoint, Suspend, Kill}

// Parse returns the mode of that name, in lower case.
func Parse(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(Modes, m) {
		return m, nil
	}
	return "", fmt.Errorf("preempt: unknown mode %q; choose one of %s", name, Names(Modes))
}

// Names lists modes for people, separated by commas.
func Names(modes []Mode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// ModeSet is a set of the modes that take a slot from a running attempt: Split,
// Checkpoint, Suspend and Kill. The zero value is empty. Raft logs and snapshots hold
// its bits, so a mode never gets another one.
type ModeSet uint8

// AllModes is the set of all modes that take a slot.
const AllModes ModeSet = 1<<4 - 1

// bit returns the set of one mode; it is empty for Wait, Auto and unknown modes.
func (m Mode) bit() ModeSet {
	switch m {
	case Split:
		return 1 << 0
	case Checkpoint:
		return 1 << 1
	case Suspend:
		return 1 << 2
	case Kill:
		return 1 << 3
	}
	return 0
}

// SetOf returns the set of the given modes. Wait, Auto and unknown modes add nothing to it.
func SetOf(modes ...Mode) (s ModeSet) {
	for _, m := range modes {
		s |= m.bit()
	}
	return s
}

// Has reports whether a mode is in the set.
func (s ModeSet) Has(m Mode) bool { return s&m.bit() != 0 }

// Modes returns the members of the set, in the order of Modes.
func (s ModeSet) Modes() []Mode {
	return slices.DeleteFunc(slices.Clone(Modes), func(m Mode) bool { return !s.Has(m) })
}

func (s ModeSet) String() string { return Names(s.Modes()) }
