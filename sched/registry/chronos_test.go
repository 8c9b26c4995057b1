package registry

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/chronos"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
)

func TestChronosWrapsPolicies(t *testing.T) {
	made := func(name string, conf map[string]string) sched.Policy {
		t.Helper()
		p, err := New(name, conf, sched.Setup{})
		must.Do(t, err)
		return p.(*chronos.Policy).Unwrap()
	}
	if p, ok := made("chronos", nil).(*fifo.Policy); !ok {
		t.Errorf("inside is %T, want FIFO", p)
	}
	for name, conf := range map[string]map[string]string{
		"chronos":      {ChronosPolicy: "fair", "mapred.fairscheduler.preemption": "true", "hammr.chronos.same-job": "true"},
		"chronos+fair": {"mapred.fairscheduler.preemption": "true", "hammr.chronos.wait": "300", "hammr.chronos.reserve": "1000"},
	} {
		if p, ok := made(name, conf).(*fair.Policy); !ok {
			t.Errorf("%s: inside is %T, want the fair scheduler", name, p)
		}
	}
}

func TestChronosForwardsInterfaces(t *testing.T) {
	for _, tt := range []struct {
		name, inside string // the latter as a setting
		pools, sizes bool
	}{
		{"fair", "", true, false}, {"hammr", "", true, false}, {"hfsp", "", false, true}, {"fifo", "", false, false},
		{"chronos", "", false, false}, {"chronos", "fair", true, false}, {"chronos", "hammr", true, false}, {"chronos", "hfsp", false, true},
		{"chronos+fair", "", true, false}, {"chronos+hfsp", "", false, true}, {"chronos+fifo", "", false, false},
	} {
		conf := map[string]string{ChronosPolicy: tt.inside}
		if HasPools(tt.name, conf) != tt.pools || UsesJobSizes(tt.name, conf) != tt.sizes {
			t.Errorf("%s with %q inside: pools %v, sizes %v", tt.name, tt.inside, !tt.pools, !tt.sizes)
		}
	}
}

func TestErrorsOfChronos(t *testing.T) {
	for want, conf := range map[string]map[string]string{
		`no policy "lottery" that it could wrap`:                                           {ChronosPolicy: "lottery"},
		`no policy "chronos" that it could wrap`:                                           {ChronosPolicy: "chronos"},
		`hammr.chronos.wait: "soon": expected a number above 0`:                            {"hammr.chronos.wait": "soon"},
		`hammr.chronos.victims: "oldest": expected least or priority`:                      {ChronosVictims: "oldest"},
		`setting hammr.chronos.speed is unknown; choose one of`:                            {"hammr.chronos.speed": "1"},
		`policy fifo: setting mapred.fairscheduler.preemption: the policy has no settings`: {"mapred.fairscheduler.preemption": "true"},
	} {
		if _, err := New("chronos", conf, sched.Setup{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", conf, err, want)
		}
	}
	if _, err := New("chronos+fair", map[string]string{ChronosPolicy: "fifo"}, sched.Setup{}); err == nil || !strings.Contains(err.Error(), ChronosPolicy) {
		t.Errorf("two policies inside: %v", err)
	}
	if _, err := New("chronos+lottery", nil, sched.Setup{}); err == nil || !strings.Contains(err.Error(), `"chronos+lottery": not one of`) {
		t.Errorf("unknown policy inside: %v", err)
	}
}
