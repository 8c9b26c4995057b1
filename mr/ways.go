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
	waySuspend    = "suspend"
)

// bars are the ways that a mapper or reducer does not bear.
func bars(user any) []string {
	if _, ok := user.(NotResumable); ok {
		return []string{waySplit, wayCheckpoint}
	}
	if _, ok := user.(Stateful); ok {
		return []string{waySplit}
	}
	return nil
}

// bar notes that tasks of a stage do not bear some ways.
func (det *details) bar(stage string, ways []string) {
	if len(ways) == 0 {
		return
	}
	if det.barred == nil {
		det.barred = make(map[string][]string)
	}
	for _, w := range ways {
		if !slices.Contains(det.barred[stage], w) {
			det.barred[stage] = append(det.barred[stage], w)
		}
	}
}

// barredIn is what the tasks of a graph do not bear, by stage, with the output in a
// directory, "" for none. What cannot write a checkpoint cannot stand still either
// while files of its are open elsewhere: their file system gives a silent writer up.
// Of stages whose Nodes run at once none can.
func (det details) barredIn(g dag.Graph, out string) map[string]string {
	local := out == "" || strings.HasPrefix(out, "file:")
	all := make(map[string]string)
	for stage, ways := range det.barred {
		if g.StageIndex(stage) < 0 {
			continue // a reducer that is left out
		}
		if !local && slices.Contains(ways, wayCheckpoint) {
			ways = append(slices.Clone(ways), waySuspend)
		}
		all[stage] = strings.Join(ways, ",")
	}
	if local {
		return all
	}
	layout := g.Layout()
	for i, s := range g.Stages {
		if ways := all[s.Name]; layout.RunsAtOnce(i) && !strings.Contains(ways, waySuspend) {
			all[s.Name] = strings.TrimPrefix(ways+","+waySuspend, ",")
		}
	}
	return all
}

// bars are the ways that Nodes of a stage do not bear. Those that read sides cannot
// go on without them.
func (s *stage) bars() []string {
	if len(s.sides) > 0 {
		return append([]string{waySplit, wayCheckpoint}, s.barred...)
	}
	return s.barred
}
