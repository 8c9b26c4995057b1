package sched

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Shortage tells what a bundle of a class waits for, in a sentence without its
// full stop; "" when none could start if it had slots. Those of classes whose
// tasks start alone wait for nothing that needs to be told.
func Shortage(view cluster.View, j *cluster.Job, b *cluster.Bundle) string {
	if waitingOf(j, b) == 0 {
		return ""
	}
	need := (&claim{class: b}).need()
	free, all := total(view, freeOf), total(view, capacityOf)
	text := fmt.Sprintf("%s: waits for %s slots at once, of which %s free", bundleName(j, b), amounts(need, need), are(free, need))
	switch {
	case slices.ContainsFunc(kindsOf(need), func(kind int) bool { return all[kind] < need[kind] }):
		text += fmt.Sprintf("; the cluster has %s", amounts(all, need))
	case !slices.ContainsFunc(kindsOf(need), func(kind int) bool { return free[kind] < need[kind] }):
		text += ", but not where it can use them"
	}
	return text
}

// bundleName is the stages of the graph whose Nodes are in bundles of a class.
func bundleName(j *cluster.Job, b *cluster.Bundle) string {
	var names []string
	for _, s := range b.Stages {
		for _, n := range s.Nodes {
			names = append(names, j.Spec.Graph.Stages[n].Name)
		}
	}
	kind := "group"
	if b.Gang {
		kind = "bundle"
	}
	return kind + " {" + strings.Join(names, ", ") + "}"
}

// total is the slots of all machines.
func total(view cluster.View, of func(*cluster.Machine) locality.Slots) (sum locality.Slots) {
	for m := range view.Machines() {
		for kind, n := range of(m) {
			sum[kind] += n
		}
	}
	return sum
}

// kindsOf are the kinds of which there are some.
func kindsOf(slots locality.Slots) (kinds []int) {
	for kind, n := range slots {
		if n > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// amounts is how many slots there are of each kind that is needed: "2 map and 1
// reduce".
func amounts(slots, need locality.Slots) string {
	var parts []string
	for _, kind := range kindsOf(need) {
		parts = append(parts, fmt.Sprintf("%d %v", slots[kind], cluster.Slot(kind)))
	}
	return strings.Join(parts, " and ")
}

// are is the same without their names, with a verb: "1 and 0 are".
func are(slots, need locality.Slots) string {
	var parts []string
	for _, kind := range kindsOf(need) {
		parts = append(parts, fmt.Sprint(slots[kind]))
	}
	verb := " are"
	if len(parts) == 1 && parts[0] == "1" {
		verb = " is"
	}
	return strings.Join(parts, " and ") + verb
}
