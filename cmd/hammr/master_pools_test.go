package main

import (
	"maps"
	"testing"

	"github.com/hammr/hammr/sched/registry"
)

// TestPoolFileAppliesToPoliciesWithPools that were not set to those of another file.
func TestPoolFileAppliesToPoliciesWithPools(t *testing.T) {
	const content = "<allocations/>"
	m := &masterDaemon{}
	if m.poolFile() != nil {
		t.Error("a master follows a file that it was not told of")
	}
	m.cfg.allocations = "pools.xml"
	f := m.poolFile()
	for _, tt := range []struct {
		policy string
		conf   map[string]string
		takes  bool
	}{
		{"fair", nil, true},
		{"hammr", map[string]string{"hammr.scheduler.locality": "false"}, true},
		{"chronos+fair", nil, true},
		{"chronos", map[string]string{registry.ChronosPolicy: "fair"}, true},
		{"chronos", nil, false},
		{"hfsp", nil, false},
		{"fair", map[string]string{registry.AllocationFile: "pools.xml", registry.Allocations: "<allocations></allocations>"}, true},
		{"fair", map[string]string{registry.AllocationFile: "other.xml", registry.Allocations: "<allocations></allocations>"}, false},
	} {
		given := maps.Clone(tt.conf)
		got := f.Set(tt.policy, tt.conf, content)
		if takes := got[registry.Allocations] == content && got[registry.AllocationFile] == "pools.xml"; takes != tt.takes || !takes && !maps.Equal(got, given) {
			t.Errorf("%s with %v is set to %v", tt.policy, given, got)
		}
		if !maps.Equal(tt.conf, given) {
			t.Errorf("%s: what was given is now %v", tt.policy, tt.conf)
		}
		if _, err := policyNamed(tt.policy, got); err != nil {
			t.Error(err)
		}
	}
}
