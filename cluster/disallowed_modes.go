package cluster

import (
	"slices"

	"github.com/hammr/hammr/dag"
)

// Ways are ways to take its slot from a running attempt, beside waiting for its
// end. Logs hold their numbers.
type Ways uint8

const (
	WaySplit      Ways = 1 << iota // a map finishes what it has read
	WayCheckpoint                  // the attempt writes down how far it is, and ends
	WaySuspend                     // it stands still
	WayKill                        // it ends, and its work is lost

	AllWays = WaySplit | WayCheckpoint | WaySuspend | WayKill
)

// Has reports whether all of other are among the ways.
func (w Ways) Has(other Ways) bool { return w&other == other }

// disallowModes notes the ways in which no slot may be taken from the tasks of bundles. Those of
// a gang give up theirs together, so what one of them does not bear none does; and none
// of them can be split.
func (j *Job) disallowModes(b *Bundle) {
	var whole Ways
	for _, s := range b.Stages {
		s.DisallowedModes = j.disallowedModes(s)
		whole |= s.DisallowedModes
	}
	for _, s := range b.Stages {
		if b.Gang {
			s.DisallowedModes = whole | WaySplit
		}
	}
}

// disallowedModes are the ways in which no slot may be taken from a task of a stage: its job
// rules them out, or it cannot be split.
func (j *Job) disallowedModes(s *Stage) (w Ways) {
	for _, n := range s.Nodes {
		if n < len(j.Spec.DisallowedModes) {
			w |= j.Spec.DisallowedModes[n]
		}
	}
	if !j.canEndEarly(s) {
		w |= WaySplit
	}
	return w
}

// canEndEarly reports whether a task of a stage can finish with what it has read: it is
// one Node, which reads a split and writes nothing but files.
func (j *Job) canEndEarly(s *Stage) bool {
	if !s.Source || len(s.Nodes) != 1 || j.Spec.Graph.Stages[s.Nodes[0]].Nodes != j.Layout.Groups[s.Index].Count {
		return false
	}
	return !slices.ContainsFunc(j.Spec.Graph.Edges, func(e dag.Edge) bool {
		return e.From == s.Name && e.Channel != dag.ChannelFile
	})
}

// PreemptionStats is what it has come to that slots were taken from the attempts of a stage.
type PreemptionStats struct {
	Requested        int   `cbor:"Asked"`            // attempts that were to give up their slots
	Checkpoints      int   `cbor:"Checkpoints"`      // that have been written
	CheckpointBytes  int64 `cbor:"CheckpointBytes"`  // of all of them
	CheckpointMillis int64 `cbor:"CheckpointMillis"` // from the orders until they were there
	LostMillis       int64 `cbor:"LostMillis"`       // for which killed attempts had held slots since their last checkpoint
	KeptMillis       int64 `cbor:"KeptMillis"`       // for which attempts had held slots that ended early or stood still
}
