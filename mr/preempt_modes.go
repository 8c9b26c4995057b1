package mr

import (
	"slices"
	"strings"

	"github.com/hammr/hammr/dag"
)

// Ways to take its slot from a task that its code may not bear, as the properties
// name them.
const (
	waySplit      = "split"
	wayCheckpoint = "checkpoint"
)

// disallowedModes are the ways that a mapper or reducer does not bear.
func disallowedModes[KO, VO any](user any) []string {
	if _, ok := user.(NotResumable); ok {
		return []string{waySplit, wayCheckpoint}
	}
	if _, ok := user.(Stateful); ok {
		return []string{waySplit}
	}
	if closesUnsaved[KO, VO](user) {
		return []string{wayCheckpoint}
	}
	return nil
}

// disallow notes that tasks of a stage do not bear some ways.
func (det *details) disallow(stage string, ways []string) {
	if len(ways) == 0 {
		return
	}
	if det.disallowed == nil {
		det.disallowed = make(map[string][]string)
	}
	for _, w := range ways {
		if !slices.Contains(det.disallowed[stage], w) {
			det.disallowed[stage] = append(det.disallowed[stage], w)
		}
	}
}

// disallowedIn is what the tasks of a graph do not bear, by stage.
func (det details) disallowedIn(g dag.Graph) map[string]string {
	all := make(map[string]string)
	for stage, ways := range det.disallowed {
		if g.StageIndex(stage) >= 0 { // else a reducer that is left out
			all[stage] = strings.Join(ways, ",")
		}
	}
	return all
}

// disallowedModes are the ways that Nodes of a stage do not bear. Those that read files and sides
// cannot stop between two groups: the sides may be read by then.
func (s *stage) disallowedModes() []string {
	if len(s.sides) > 0 && !s.reads[0].isLive() {
		return append([]string{waySplit, wayCheckpoint}, s.disallowed...)
	}
	return s.disallowed
}
