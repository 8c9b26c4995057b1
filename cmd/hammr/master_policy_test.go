package main

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/sched/all"
)

func TestPoliciesOfARunningClusterWaitOrKill(t *testing.T) {
	for _, name := range all.Names() {
		if _, err := policyNamed(name, map[string]string{mapPreemption: "wait", reducePreemption: "kill"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const sentence = "not on a running cluster yet: choose wait or kill"
	for _, bad := range []struct{ policy, setting, way, want string }{
		{"fair", mapPreemption, "split", sentence},
		{"hfsp", reducePreemption, "suspend", sentence},
		{"disco", reducePreemption, "checkpoint", sentence},
		{"chronos", mapPreemption, "auto", sentence},
		{"hfsp", hfspPreemption, "eager", sentence},
		{"hfsp", reducePreemption, "ask", `"ask" is no way to take a slot`},
	} {
		_, err := policyNamed(bad.policy, map[string]string{bad.setting: bad.way})
		if err == nil || !strings.Contains(err.Error(), bad.setting) || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s with %s=%s: %v", bad.policy, bad.setting, bad.way, err)
		}
	}
	if _, err := policyNamed("hfsp", map[string]string{hfspPreemption: "wait"}); err != nil {
		t.Error(err)
	}
}
