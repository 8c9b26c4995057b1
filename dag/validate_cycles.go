package dag

import (
	"fmt"
	"strings"
)

// checkCycles refuses walks along edges that end where they began and, in a
// graph without them, bundles that wait for each other's files or their own.
func (g Graph) checkCycles(fault errorFunc) {
	joints := g.validEdges()
	writers := make([][]int, len(g.Stages))
	for _, j := range joints {
		writers[j.to] = append(writers[j.to], j.from)
	}
	cycles := findCycles(writers)
	for _, cycle := range cycles {
		fault("cycle %s", g.cycleText(cycle))
	}
	if len(cycles) == 0 {
		g.checkWaits(joints, fault)
	}
}

// cycleText names the stages of a cycle, the first once more at the end.
func (g Graph) cycleText(cycle []int) string {
	var names []string
	for _, i := range append(cycle, cycle[0]) {
		names = append(names, g.Stages[i].Name)
	}
	return strings.Join(names, " -> ")
}

// checkWaits looks at classes of bundles instead of bundles. That is exact:
// whatever joins two classes, copy by copy or all with all, joins the first
// bundle of one to the first of the other, so a cycle of classes is one of
// bundles.
func (g Graph) checkWaits(joints []validEdge, fault errorFunc) {
	l := g.Layout()
	after := make([][]int, len(l.Bundles))
	for i, bundle := range l.Bundles {
		for _, writer := range bundle.After {
			if writer != i {
				after[i] = append(after[i], writer)
			}
		}
	}
	files := make(map[bundlePair]Edge)
	for _, j := range joints {
		if j.Channel != ChannelFile || !l.connects(j) {
			continue
		}
		c := bundlePair{writer: l.bundleOf(j.from), reader: l.bundleOf(j.to)}
		files[c] = j.Edge
		if c.writer == c.reader {
			fault("edge %v: %s waits for a file that it writes itself", j.Edge, g.bundleText(l, c.reader))
		}
	}
	for _, cycle := range findCycles(after) {
		var parts []string
		for i, writer := range cycle {
			c := bundlePair{writer: writer, reader: cycle[(i+1)%len(cycle)]}
			parts = append(parts, fmt.Sprintf("%s waits for %v", g.bundleText(l, c.reader), files[c]))
		}
		fault("cycle of files: %s", strings.Join(parts, ", "))
	}
}

// bundlePair is two classes of bundles, one of which reads files of the other.
type bundlePair struct{ writer, reader int }

// bundleText is a class of bundles as messages name it: by its stages, as a group
// when each bundle is one.
func (g Graph) bundleText(l *Layout, bundle int) string {
	kind := "bundle"
	if !l.IsGang(bundle) {
		kind = "group"
	}
	return kind + " " + g.stageSet(l.stagesOf(bundle))
}

func (g Graph) stageSet(stages []int) string {
	var names []string
	for _, i := range stages {
		names = append(names, g.Stages[i].Name)
	}
	return "{" + strings.Join(names, ", ") + "}"
}
