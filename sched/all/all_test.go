package all

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/sched"
)

func TestEveryPolicyIsMadeWithoutSettings(t *testing.T) {
	for _, name := range Names() {
		if p, err := New(name, nil, sched.DefaultPlacement()); p == nil || err != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		if _, err := New(name, map[string]string{"no.such": "1"}, sched.Placement{}); err == nil || !strings.Contains(err.Error(), "no.such") {
			t.Errorf("%s with a setting that it does not know: %v", name, err)
		}
	}
	if _, err := New("lottery", nil, sched.Placement{}); err == nil || !strings.Contains(err.Error(), `"lottery": not one of `+strings.Join(Names(), ", ")) {
		t.Errorf("unknown policy: %v", err)
	}
}
