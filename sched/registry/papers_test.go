package registry

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/sched"
)

func TestSettingsOfHammrAndDisco(t *testing.T) {
	for _, tt := range []struct {
		policy, name, value string
		want                string // in the error; "" is none
	}{
		{"hammr", Allocations, `<allocations><pool name="a"><weight>2</weight></pool></allocations>`, ""},
		{"hammr", Allocations, "<allocations><pool/></allocations>", "allocations:1"},
		{"hammr", "hammr.scheduler.locality", "false", ""},
		{"hammr", "hammr.scheduler.locality", "never", "expected true or false"},
		{"hammr", "hammr.scheduler.preemption", "false", ""},
		{"hammr", "hammr.scheduler.preemption.threshold", "0.5", ""},
		{"hammr", "hammr.scheduler.preemption.threshold", "1.5", "expected a number above 0, at most 1"},
		{"hammr", "hammr.scheduler.preemption.timeout", "5000", ""},
		{"hammr", "hammr.scheduler.preemption.timeout", "-1", "expected a number above 0"},
		{"disco", "hammr.disco.transition.hold", "500", ""},
		{"disco", "hammr.disco.transition.hold", "0", "expected a number above 0"},
		{"disco", Allocations, "<allocations/>", "choose one of hammr.disco.transition.hold"},
	} {
		_, err := New(tt.policy, map[string]string{tt.name: tt.value}, sched.Setup{})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s %q: %v, want %q", tt.policy, tt.name, tt.value, err, tt.want)
		}
	}
}
