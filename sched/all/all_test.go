package all

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/sched"
)

func TestEveryPolicyIsMadeWithoutSettings(t *testing.T) {
	for _, name := range Names() {
		if p, err := New(name, nil, sched.Setup{Placement: sched.DefaultPlacement()}); p == nil || err != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		if _, err := New(name, map[string]string{"no.such": "1"}, sched.Setup{}); err == nil || !strings.Contains(err.Error(), "no.such") {
			t.Errorf("%s with a setting that it does not know: %v", name, err)
		}
	}
	if _, err := New("lottery", nil, sched.Setup{}); err == nil || !strings.Contains(err.Error(), `"lottery": not one of `+strings.Join(Names(), ", ")) {
		t.Errorf("unknown policy: %v", err)
	}
}

func TestSettingsOfFair(t *testing.T) {
	good := map[string]string{
		AllocationFile: "fair-scheduler.xml", Allocations: `<allocations><pool name="a"><weight>2</weight></pool></allocations>`,
		"mapred.fairscheduler.preemption": "true", "mapred.fairscheduler.load.max.diff": "0.5",
	}
	if _, err := New("fair", good, sched.Setup{}); err != nil {
		t.Error(err)
	}
	_, err := New("fair", map[string]string{
		AllocationFile: "fair-scheduler.xml", Allocations: "<allocations>\n<pool name='a'><weight>-2</weight></pool></allocations>",
		"mapred.fairscheduler.preemption": "maybe", "mapred.newjobweightbooster.factor": "NaN", "weight": "2",
	}, sched.Setup{})
	for _, want := range []string{
		"fair-scheduler.xml:2", `mapred.fairscheduler.preemption: "maybe": expected true or false`,
		`mapred.newjobweightbooster.factor: "NaN": expected a number above 0`, "setting weight is none of",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
