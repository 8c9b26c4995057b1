package masterd

import (
	"maps"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
)

func TestClusterPolicyPreemptsByEveryMode(t *testing.T) {
	for _, name := range registry.Names() {
		if _, err := NewPolicy(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, mode := range preempt.Modes {
			if _, err := NewPolicy(name, map[string]string{registry.MapPreemption: string(mode), registry.ReducePreemption: string(mode)}); err != nil {
				t.Errorf("%s with %s: %v", name, mode, err)
			}
		}
	}
	for _, mode := range []string{"eager", "wait", "kill"} {
		if _, err := NewPolicy("hfsp", map[string]string{"mapred.hfsp-scheduler.preemption-strategy": mode}); err != nil {
			t.Error(err)
		}
	}
}

// TestInitialPolicies checks the default of started clusters, and values with errors.
func TestInitialPolicies(t *testing.T) {
	if name, conf := parsePolicy(launch.InitialPolicy); name != "hfsp" || conf[registry.UserShareTimeout] == "" || len(conf) != 1 {
		t.Errorf("default %q %q", name, conf)
	}
	for text, want := range map[string]string{
		"fifo": "", launch.InitialPolicy: "", "lottery": `policy "lottery"`, "fifo,a=b": "setting a", "hfsp,": "setting",
	} {
		c := &Config{}
		c.EnsureDefaults()
		c.ID, c.Dir, c.TokenFile, c.InitialPolicy = "m1", "/d", "/t", text
		if err := c.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestUnknownPreemptionModesAreRefused(t *testing.T) {
	conf := map[string]string{registry.MapPreemption: "ask", registry.ReducePreemption: ""}
	_, err := NewPolicy("fair", conf)
	for _, want := range []string{"setting " + registry.MapPreemption + `: preempt: unknown mode "ask"`, "setting " + registry.ReducePreemption + `: preempt: unknown mode ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(conf) != 2 {
		t.Errorf("the settings are changed: %v", conf)
	}
}

// TestPoolFileAppliesToPoliciesWithPools checks that a pool file does not change a policy
// without pools, nor a policy whose pools come from another file.
func TestPoolFileAppliesToPoliciesWithPools(t *testing.T) {
	const content = "<allocations/>"
	if newPoolFile("", "") != nil {
		t.Error("a pool file without a name")
	}
	f := newPoolFile("pools.xml", "old.xml")
	for _, tt := range []struct {
		policy  string
		conf    map[string]string
		applies bool
	}{
		{"fair", nil, true},
		{"hammr", map[string]string{"hammr.scheduler.locality": "false"}, true},
		{"chronos+fair", nil, true},
		{"chronos", map[string]string{registry.ChronosPolicy: "fair"}, true},
		{"chronos", nil, false},
		{"hfsp", nil, false},
		{"fair", map[string]string{registry.AllocationFile: "pools.xml", registry.Allocations: "<allocations></allocations>"}, true},
		{"fair", map[string]string{registry.AllocationFile: "other.xml", registry.Allocations: "<allocations></allocations>"}, false},
		{"fair", map[string]string{registry.AllocationFile: "old.xml", registry.Allocations: "<allocations></allocations>"}, true},
	} {
		before := maps.Clone(tt.conf)
		got := f.Set(tt.policy, tt.conf, content)
		if applies := got[registry.Allocations] == content && got[registry.AllocationFile] == "pools.xml"; applies != tt.applies || !applies && !maps.Equal(got, before) {
			t.Errorf("%s with %v is set to %v", tt.policy, before, got)
		}
		if !maps.Equal(tt.conf, before) {
			t.Errorf("%s: its configuration is changed to %v", tt.policy, tt.conf)
		}
		if _, err := NewPolicy(tt.policy, got); err != nil {
			t.Error(err)
		}
	}
}
