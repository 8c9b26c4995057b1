// Package registry makes scheduling policies from their names and settings. Programs import
// it and pass the policies to masters and to the simulator. No other package of the
// scheduler imports it.
//
// To add a policy, write its package and add a line to the table below, with the
// function that reads its settings.
package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/sched"
)

// policy is a registered policy, as the table describes it.
type policy struct {
	// make creates the policy from its settings. A setting that it does not read is unknown.
	// A setting that it cannot read is noted in s.
	make func(s *settings, setup sched.Setup) sched.Policy

	pools    bool // it reads the pools of an allocation file
	jobSizes bool // it orders jobs by size, and so may ask sched.Setup.Oracle
}

// policies lists all policies except chronos, which can wrap each of them. A new policy
// needs a line here, and a function in policies.go that reads its settings.
var policies = map[string]policy{
	"disco": {make: newDisco},
	"fair":  {make: newFair, pools: true},
	"fifo":  {make: newFIFO},
	"hammr": {make: newHammr, pools: true},
	"hfsp":  {make: newHFSP, jobSizes: true},
}

// configure makes the policy of a registered name. It refuses bad and unknown settings: a
// misspelled property would otherwise have no effect and no message.
func configure(name string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := &settings{policy: name, conf: conf}
	p := policies[name].make(s, setup)
	if err := s.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// HasPools reports whether a policy with these settings reads the pools of an allocation
// file. For chronos the wrapped policy decides. The master's daemon and the simulator pass
// the content of the file only to such policies, since the others refuse unknown settings.
func HasPools(name string, conf map[string]string) bool { return policies[innermost(name, conf)].pools }

// UsesJobSizes reports whether a policy with these settings orders jobs by their sizes,
// and so may ask sched.Setup.Oracle for them.
func UsesJobSizes(name string, conf map[string]string) bool {
	return policies[innermost(name, conf)].jobSizes
}

// Names returns the names of all policies, ascending: each policy alone, each policy wrapped
// by chronos, and chronos with its default. Error messages list the names, and the
// simulator's tests run all of these policies.
func Names() []string {
	names := []string{chronosName}
	for name := range maps.Keys(policies) {
		names = append(names, name, chronosPrefix+name)
	}
	slices.Sort(names)
	return names
}

// New makes the policy with the given name. conf contains its settings by property name;
// unknown settings are refused. setup does not depend on the policy. New first takes the
// settings that all policies share out of conf.
func New(name string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	conf, err := takePreempt(name, conf, &setup.Preempt)
	conf, wrong := takePlacement(name, conf, &setup.Placement)
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	if inner, ok := chronosInner(name); ok && (inner == "" && name == chronosName || policies[inner].make != nil) {
		return newChronos(inner, conf, setup)
	}
	if policies[name].make == nil {
		return nil, fmt.Errorf("policy %q: not one of %s", name, strings.Join(Names(), ", "))
	}
	return configure(name, conf, setup)
}
