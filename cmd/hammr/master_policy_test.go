package main

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
)

func TestClusterPolicyPreemptsByEveryMode(t *testing.T) {
	for _, name := range registry.Names() {
		if _, err := policyNamed(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, way := range preempt.Modes {
			if _, err := policyNamed(name, map[string]string{mapPreemption: string(way), reducePreemption: string(way)}); err != nil {
				t.Errorf("%s with %s: %v", name, way, err)
			}
		}
	}
	for _, way := range []string{"eager", "wait", "kill"} {
		if _, err := policyNamed("hfsp", map[string]string{"mapred.hfsp-scheduler.preemption-strategy": way}); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownPreemptionModesAreRefused(t *testing.T) {
	conf := map[string]string{mapPreemption: "ask", reducePreemption: ""}
	_, err := policyNamed("fair", conf)
	for _, want := range []string{mapPreemption + `: preempt: "ask" is no way to take a slot`, reducePreemption + `: preempt: "" is no way`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(conf) != 2 {
		t.Errorf("the settings are changed: %v", conf)
	}
}
