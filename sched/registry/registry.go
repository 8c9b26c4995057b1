// Package registry makes scheduling policies from their names and settings. Programs import
// it and pass the policies to masters and to the simulator. No other package of the
// scheduler imports it.
//
// A policy is known after a call of Register. So is an estimator of job sizes after one of RegisterEstimator,
// and an order of victims after one of RegisterVictims. The built-in ones are registered in policies.go,
// hfsp.go and common.go. Packages of other modules register theirs in an init function:
//
//	func init() {
//		registry.Register("mine", registry.Policy{New: newPolicy, Settings: settings})
//	}
//
// A program that imports the package and calls cli.Main is hammr with that policy.
package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/sched"
)

// configure makes the policy of a registered name. It refuses bad and unknown settings: a
// misspelled property would otherwise have no effect and no message.
func configure(name string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := &Settings{policy: name, conf: conf}
	p := policies.all[name].New(s, setup)
	if err := s.err(); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("policy %s: its New returns no policy", name)
	}
	return p, nil
}

// HasPools reports whether a policy with these settings reads the pools of an allocation
// file. For chronos the wrapped policy decides. The master's daemon and the simulator pass
// the content of the file only to such policies, since the others refuse unknown settings.
func HasPools(name string, conf map[string]string) bool {
	return policies.all[innermost(name, conf)].Pools
}

// UsesJobSizes reports whether a policy with these settings orders jobs by their sizes,
// and so may ask sched.Setup.Oracle for them.
func UsesJobSizes(name string, conf map[string]string) bool {
	return policies.all[innermost(name, conf)].JobSizes
}

// Names returns the names of all policies, ascending: each policy alone, each policy wrapped
// by chronos, and chronos with its default. Error messages list the names, and the
// simulator's tests run all of these policies.
func Names() []string {
	names := []string{chronosName}
	for name := range policies.all {
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
	if inner, ok := chronosInner(name); ok && (inner == "" && name == chronosName || policies.all[inner].New != nil) {
		return newChronos(inner, conf, setup)
	}
	if policies.all[name].New == nil {
		return nil, fmt.Errorf("policy %q: not one of %s", name, strings.Join(Names(), ", "))
	}
	return configure(name, conf, setup)
}
