package mr

import (
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// disallowedModes are the preemption modes that a mapper or reducer does not support.
func disallowedModes[KO, VO any](user any) preempt.ModeSet {
	if _, ok := user.(NotResumable); ok {
		return preempt.SetOf(preempt.Split, preempt.Checkpoint)
	}
	if _, ok := user.(Stateful); ok {
		return preempt.SetOf(preempt.Split)
	}
	if closesUnsaved[KO, VO](user) {
		return preempt.SetOf(preempt.Checkpoint)
	}
	return 0
}

// disallow adds preemption modes that the tasks of a stage do not support.
func (det *details) disallow(stage string, modes preempt.ModeSet) {
	if modes == 0 {
		return
	}
	if det.disallowed == nil {
		det.disallowed = make(map[string]preempt.ModeSet)
	}
	det.disallowed[stage] |= modes
}

// disallowedIn is the modes that the tasks of a graph do not support, by stage, in the
// form that a submission has.
func (det details) disallowedIn(g dag.Graph) map[string]string {
	all := make(map[string]string)
	for stage, modes := range det.disallowed {
		if g.StageIndex(stage) >= 0 { // else a reducer that is left out
			all[stage] = strings.ReplaceAll(modes.String(), " ", "")
		}
	}
	return all
}

// disallowedModes are the preemption modes that Nodes of a stage do not support. Nodes that
// read files and sides cannot stop between two groups, because they may have read the sides
// by then.
func (s *stage) disallowedModes() preempt.ModeSet {
	if len(s.sides) > 0 && !s.reads[0].isLive() {
		return preempt.SetOf(preempt.Split, preempt.Checkpoint) | s.disallowed
	}
	return s.disallowed
}
