// Package registry knows every policy by name. Only programs import it: they hand
// what it makes to masters and to the simulator.
package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// maker makes a policy of what it is set to.
type maker func(conf map[string]string, setup sched.Setup) (sched.Policy, error)

var makers = map[string]maker{"disco": newDisco, "fair": newFair, "fifo": newFIFO, "hammr": newHammr, "hfsp": newHFSP}

func newFIFO(conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := settings{policy: "fifo", conf: conf}
	return fifo.New(setup.Placement), s.err()
}

// HasPools reports whether a policy that is set to conf has the pools of an
// allocation file.
func HasPools(name string, conf map[string]string) bool {
	name = innermost(name, conf)
	return name == "fair" || name == "hammr"
}

// Names are the names of all policies, ascending. Chronos has one for each that may
// be inside it, and one for the default.
func Names() []string {
	names := append(slices.Sorted(maps.Keys(makers)), chronosName)
	for _, inside := range names[:len(makers)] {
		names = append(names, chronosPrefix+inside)
	}
	slices.Sort(names)
	return names
}

// New makes the policy of a name, set to conf: properties as Hadoop calls them.
// Setup is what has nothing to do with the policy.
func New(name string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	conf, err := takePreempt(name, conf, &setup.Preempt)
	conf, wrong := takePlacement(name, conf, &setup.Placement)
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	if inside, ok := chronosInner(name); ok && (inside == "" && name == chronosName || makers[inside] != nil) {
		return newChronos(inside, conf, setup)
	}
	make, known := makers[name]
	if !known {
		return nil, fmt.Errorf("policy %q: not one of %s", name, strings.Join(Names(), ", "))
	}
	p, err := make(conf, setup)
	if err != nil {
		return nil, err
	}
	return p, nil
}
