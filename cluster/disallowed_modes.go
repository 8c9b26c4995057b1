package cluster

import (
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// disallowModes sets the modes in which no slot is taken from the tasks of bundles.
// The attempts of a gang give up their slots together, so a mode that one stage of
// it disallows is disallowed for all of it; and no task of a gang can be split.
func (j *Job) disallowModes(b *Bundle) {
	var union preempt.ModeSet
	for _, s := range b.Stages {
		s.DisallowedModes = j.disallowedModes(s)
		union |= s.DisallowedModes
	}
	for _, s := range b.Stages {
		if b.Gang {
			s.DisallowedModes = union | preempt.SetOf(preempt.Split)
		}
	}
}

// disallowedModes returns the modes that the job rules out for a stage. They include Split
// if a task of the stage cannot end early.
func (j *Job) disallowedModes(s *Stage) (disallowed preempt.ModeSet) {
	for _, n := range s.Nodes {
		if n < len(j.Spec.DisallowedModes) {
			disallowed |= j.Spec.DisallowedModes[n]
		}
	}
	if !j.canEndEarly(s) {
		disallowed |= preempt.SetOf(preempt.Split)
	}
	return disallowed
}

// canEndEarly reports whether a task of a stage can finish with what it has read. It can if
// the task is one Node that reads a split and writes only files: a reader of a channel would
// take the end of the stream for the end of the input.
func (j *Job) canEndEarly(s *Stage) bool {
	if !s.Source || len(s.Nodes) != 1 || j.Spec.Graph.Stages[s.Nodes[0]].Nodes != j.Layout.Groups[s.Index].Count {
		return false
	}
	return !slices.ContainsFunc(j.Spec.Graph.Edges, func(e dag.Edge) bool {
		return e.From == s.Name && e.Channel != dag.ChannelFile
	})
}

// PreemptionStats counts the preemptions of a stage's attempts, and their cost.
type PreemptionStats struct {
	Requested        int   `cbor:"Requested"`        // attempts that were ordered to give up their slots
	Checkpoints      int   `cbor:"Checkpoints"`      // checkpoints written
	CheckpointBytes  int64 `cbor:"CheckpointBytes"`  // bytes of all these checkpoints
	CheckpointMillis int64 `cbor:"CheckpointMillis"` // sum over them of the times from the order to the report
	LostMillis       int64 `cbor:"LostMillis"`       // slot time of killed attempts since their last checkpoint
	KeptMillis       int64 `cbor:"KeptMillis"`       // slot time of attempts that were split, checkpointed or suspended
}
