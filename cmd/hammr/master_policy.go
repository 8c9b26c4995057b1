package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
)

// Settings, of every policy, that say how slots are taken from running tasks.
const (
	mapPreemption    = "hammr.scheduler.map-preemption"
	reducePreemption = "hammr.scheduler.reduce-preemption"
)

// policyMaker is policyNamed with a log line for each setting that has an old name.
func policyMaker(logger *slog.Logger) func(name string, conf map[string]string) (sched.Policy, error) {
	return func(name string, conf map[string]string) (sched.Policy, error) {
		conf, warnings := registry.Rename(conf)
		for _, text := range warnings {
			logger.Warn("scheduler setting has an old name", "policy", name, "warning", text)
		}
		return policyNamed(name, conf)
	}
}

// policyNamed makes the policy of a name for a running cluster. Unless its settings
// say otherwise, slots are taken in the way that costs least.
func policyNamed(name string, conf map[string]string) (sched.Policy, error) {
	rest := maps.Clone(conf)
	means := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}
	err := errors.Join(takeWay(rest, mapPreemption, &means.Map), takeWay(rest, reducePreemption, &means.Reduce))
	if err != nil {
		return nil, err
	}
	return registry.New(name, rest, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: means})
}

// takeWay takes a setting that names a way to take slots out of conf.
func takeWay(conf map[string]string, setting string, way *preempt.Mode) error {
	text, set := conf[setting]
	if !set {
		return nil
	}
	delete(conf, setting)
	how, err := preempt.Parse(text)
	if err != nil {
		return fmt.Errorf("setting %s: %w", setting, err)
	}
	*way = how
	return nil
}
