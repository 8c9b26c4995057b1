package dag

import (
	"errors"
	"fmt"
)

// CheckFits reports each group and bundle that could never start on a cluster of machines
// with these slots, even if nothing else ran there. A group needs its slots on one machine.
// A bundle needs the slots of all its groups at the same time. nil means that CheckFits
// found no such group or bundle.
//
// The check is exact for bundles whose groups are all alike. Groups of different sizes are
// checked one size at a time, so packing them together may fail although the check passes.
//
// The graph must be valid, and l is its layout. Machines that may join later are not
// considered: the caller decides whether to refuse a graph that does not fit, or to wait.
func (g Graph) CheckFits(l *Layout, machines []Slots) error {
	f := fitCheck{graph: g, layout: l, machines: machines}
	for _, m := range machines {
		f.total = f.total.Plus(m)
	}
	for i := range l.Bundles {
		if l.Bundles[i].Count > 0 && f.checkGroups(i) {
			f.checkBundle(i)
		}
	}
	return errors.Join(f.errs...)
}

// fitCheck is one call of CheckFits.
type fitCheck struct {
	graph    Graph
	layout   *Layout
	machines []Slots // slots of each machine
	total    Slots   // total slots of all machines
	errs     []error // errors found so far
}

// errorf adds an error.
func (f *fitCheck) errorf(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("dag: "+format, args...))
}

// checkGroups reports whether each group of a bundle fits on some machine.
func (f *fitCheck) checkGroups(bundle int) bool {
	allFit := true
	for _, class := range f.layout.Bundles[bundle].Groups {
		if group := f.layout.Groups[class]; f.capacity(class, 1) == 0 {
			allFit = false
			f.errorf("group %s: slots for %v on one machine, which none of %d machines has; largest: %v",
				f.graph.stageSet(group.Stages), group.Slots, len(f.machines), f.largestMachine())
		}
	}
	return allFit
}

// checkBundle checks that all groups of a bundle fit on the machines together.
func (f *fitCheck) checkBundle(bundle int) {
	b := f.layout.Bundles[bundle]
	if !b.Slots.FitsIn(f.total) {
		f.errorf("%s: slots for %v at once, of which the cluster has %v", f.graph.bundleText(f.layout, bundle), b.Slots, f.total)
		return
	}
	for _, class := range b.Groups {
		group := f.layout.Groups[class]
		need := f.layout.GroupsPerBundle(bundle, class)
		if fit := f.capacity(class, need); fit < need {
			f.errorf("%s: %d groups %s at once, each with slots for %v on one machine; %d machines can run %d",
				f.graph.bundleText(f.layout, bundle), need, f.graph.stageSet(group.Stages), group.Slots, len(f.machines), fit)
		}
	}
}

// capacity returns the number of groups of a class that all machines can take at once; it
// stops counting at enough.
func (f *fitCheck) capacity(class, enough int) int {
	n := 0
	for _, m := range f.machines {
		if n += min(f.layout.Groups[class].Slots.CountIn(m), enough-n); n >= enough {
			return enough
		}
	}
	return n
}

// largestMachine returns the greatest number of slots of each kind that any machine has.
func (f *fitCheck) largestMachine() Slots {
	var most Slots
	for _, m := range f.machines {
		most = most.AtLeast(m)
	}
	return most
}
