package lint

import (
	"fmt"
	"strings"
)

// layers are the boxes of ARCHITECTURE.md from the lowest to the highest. A package may import packages of its own
// layer and of lower ones, so that a reader who goes down never has to come back up. A layer is named as patterns of
// the import table are; the most specific pattern counts.
var layers = [][]string{
	{"internal/kit", "internal/kit/..."},
	{"dag", "preempt", "cluster", "locality", "locality/...", "sched", "sched/...", "control"}, // the brain
	{"internal/rpc", "internal/rpc/..."},
	{"storage", "storage/..."},
	{"internal/conf", "internal/conf/..."},
	{"internal/data", "internal/data/..."},
	{"internal/logs", "internal/logs/..."},
	{"chaos"}, // plans and verdicts, which documents show
	{"internal/docs", "internal/docs/..."},
	{"shuffle", "shuffle/..."},
	{"internal/task", "internal/task/..."},
	{"tasknode", "tasknode/..."},
	{"jobmaster", "jobmaster/..."},
	{"internal/client", "internal/client/..."},
	{"mr", "mr/..."},
	{"examples", "examples/..."},
	{"internal/web", "internal/web/..."},
	{"internal/source", "internal/source/..."},
	{"internal/daemon", "internal/daemon/..."},
	{"internal/ops", "internal/ops/..."},
	{"sim", "sim/..."},
	{"chaos/..."},
	{"bench", "bench/...", "hammrtest"},
	{"cli"},
	{"..."}, // programs, and what only tests import
}

// layerOf returns the index of a package's layer.
func layerOf(name string) int {
	layer, longest := 0, ""
	for i, patterns := range layers {
		for _, pattern := range patterns {
			if pattern == name {
				return i
			}
			if matches(pattern, name) && len(pattern) > len(longest) {
				layer, longest = i, pattern
			}
		}
	}
	return layer
}

// layerFindings reports imports of a package from a higher layer.
func layerFindings(p pkg) []string {
	var findings []string
	for _, path := range p.Imports {
		if name := localName(path); inModule(path) && layerOf(name) > layerOf(p.name()) {
			findings = append(findings, fmt.Sprintf("package %s imports %s from the higher layer %s: move what it needs down, or let the "+
				"higher layer pass it as a value or an interface", p.name(), name, strings.Join(layers[layerOf(name)], ", ")))
		}
	}
	return findings
}
