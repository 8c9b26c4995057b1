package sched

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Writers starts from running tasks in slots of a scarce kind. It returns the stages with
// unfinished tasks that these tasks read, directly or through other stages, and the stages
// in bundles with them.
func Writers(view cluster.View, scarce func(kind int) bool) map[*cluster.Stage]bool {
	writers := make(map[*cluster.Stage]bool)
	for j := range view.Jobs() {
		for _, s := range j.Stages {
			for kind, n := range s.Slots {
				if s.Running > 0 && n > 0 && scarce(kind) {
					addWriters(writers, s)
				}
			}
		}
	}
	return writers
}

// addWriters adds the stages with unfinished tasks that a stage reads, transitively, each
// with the other stages of its bundles.
func addWriters(writers map[*cluster.Stage]bool, reader *cluster.Stage) {
	for up := range reader.Upstream() {
		if up.Complete() {
			continue
		}
		for _, s := range up.Bundle.Stages {
			if !writers[s] {
				writers[s] = true
				addWriters(writers, s)
			}
		}
	}
}

// WritersForBundles returns the Writers for slots that waiting bundles lack; nil if no bundle waits. A reservation
// of slots for a bundle lets these stages take its slots, since the readers end only after them. So a task of
// theirs that is preempted starts again at once.
func WritersForBundles(view View) map[*cluster.Stage]bool {
	var wanted cluster.Slots // by the largest bundle
	for j := range view.Jobs() {
		if !slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return !s.StartsAlone() }) {
			continue // most jobs have no bundles
		}
		for w := range Wants(j) {
			for kind, need := range w.Need {
				if w.Bundle != nil {
					wanted[kind] = max(wanted[kind], need)
				}
			}
		}
	}
	if wanted.IsZero() {
		return nil
	}
	var free cluster.Slots
	for m := range view.Machines() {
		free = free.Plus(view.FreeSlots(m))
	}
	return Writers(view.View, func(kind int) bool { return wanted[kind] > free[kind] })
}
