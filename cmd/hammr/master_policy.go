package main

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/all"
)

// Settings, of every policy, that say how slots are taken from running tasks.
const (
	mapPreemption    = "hammr.scheduler.map-preemption"
	reducePreemption = "hammr.scheduler.reduce-preemption"
	hfspPreemption   = "mapred.hfsp-scheduler.preemption-strategy" // of hfsp, for both
)

// policyNamed makes the policy of a name for a running cluster, whose tasks can be
// waited for and killed, but not yet made to keep their work.
func policyNamed(name string, conf map[string]string) (sched.Policy, error) {
	rest := maps.Clone(conf)
	means := preempt.Means{Map: preempt.Kill, Reduce: preempt.Kill}
	faults := []error{
		takeWay(rest, mapPreemption, &means.Map), takeWay(rest, reducePreemption, &means.Reduce),
	}
	if way := conf[hfspPreemption]; way == "eager" {
		faults = append(faults, notYet(hfspPreemption, way))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return all.New(name, rest, sched.Setup{Placement: sched.DefaultPlacement(), Means: means})
}

// takeWay takes a setting that names a way to take slots out of conf.
func takeWay(conf map[string]string, setting string, way *preempt.How) error {
	text, set := conf[setting]
	if !set {
		return nil
	}
	delete(conf, setting)
	how, err := preempt.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("setting %s: %w", setting, err)
	case how != preempt.Wait && how != preempt.Kill:
		return notYet(setting, text)
	}
	*way = how
	return nil
}

func notYet(setting, way string) error {
	return fmt.Errorf("setting %s: %q: not on a running cluster yet: choose wait or kill", setting, way)
}
