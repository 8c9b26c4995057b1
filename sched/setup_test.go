package sched

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
)

func TestParseMethod(t *testing.T) {
	for name, want := range map[string]Method{"": Flow, "flow": Flow, "delay": Delay, "none": None} {
		if got, err := ParseMethod(name); got != want || err != nil {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if _, err := ParseMethod("best"); err == nil || !strings.Contains(err.Error(), `"best"`) || !strings.Contains(err.Error(), "flow, delay, none") {
		t.Errorf("an unknown method gives %v", err)
	}
}

func TestJobChoosesMethod(t *testing.T) {
	for _, tt := range []struct {
		policy Method
		job    string
		want   Method
	}{{"", "", Flow}, {Delay, "", Delay}, {Delay, "none", None}, {None, "flow", Flow}, {None, "unheard of", None}} {
		j := &cluster.Job{Spec: cluster.JobSpec{Placement: tt.job}}
		if got := (Placement{Method: tt.policy}).MethodOf(j); got != tt.want {
			t.Errorf("policy %q and job %q: %q, want %q", tt.policy, tt.job, got, tt.want)
		}
	}
}
