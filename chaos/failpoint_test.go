package chaos_test

import (
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// parsed returns the only fault of a plan.
func parsed(t *testing.T, fault string) chaos.Fault {
	t.Helper()
	p, err := chaos.Parse("p", []byte(head+"fault at 0s do "+fault))
	must.Do(t, err)
	if got := "fault at 0s do " + fault; p.Faults[0].String() != got {
		t.Errorf("%q is written %q", got, p.Faults[0])
	}
	return p.Faults[0]
}

// TestEachPointBelongsToOneRole checks that a plan can name every failpoint.
func TestEachPointBelongsToOneRole(t *testing.T) {
	for _, point := range failpoint.Names() {
		found := 0
		for _, role := range []chaos.Role{chaos.Tasknode, chaos.Jobmaster} {
			p := chaos.NewPlan()
			p.Jobs = []chaos.Job{{Name: "j", Program: "wordcount"}}
			p.Faults = []chaos.Fault{{Kind: chaos.Failpoint, Target: chaos.Target{Role: role, Name: "1"}, Trigger: chaos.Trigger{Event: chaos.AtTime}, Point: point, Action: "crash@2"}}
			if role == chaos.Jobmaster {
				p.Faults[0].Target.Name = chaos.Leader
			}
			if p.Check() == nil {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s is of %d kinds of daemons", point, found)
		}
	}
}

func TestFaultsThatEndDaemons(t *testing.T) {
	for fault, want := range map[string]bool{
		"kill tasknode 1 for 1s":                                       true,
		"kill task map":                                                false,
		"stop jobmaster leader":                                        false,
		"io-error jobmaster leader for 1s":                             true,
		"io-error tasknode 1":                                          false,
		"failpoint tasknode 1 at task/spill by crash@3 for 1s":         false,
		"failpoint tasknode any at tasknode/launch by crash@3":         true,
		"failpoint tasknode 2 at tasknode/launch by error":             false,
		"failpoint jobmaster all at jobmaster/log-append by error":     true,
		"failpoint jobmaster m1 at jobmaster/log-append by delay=1s@2": false,
		"failpoint jobmaster leader at jobmaster/snapshot by error":    false,
	} {
		if got := parsed(t, fault).EndsDaemon(); got != want {
			t.Errorf("%s ends a daemon: %v", fault, got)
		}
	}
	for action, want := range map[string]int64{"error": 1, "crash@3": 3, "delay=1s@2": 2} {
		f := parsed(t, "failpoint tasknode 1 at task/done by "+action)
		if f.MissedAfter(want-1) == "" || f.MissedAfter(want) != "" {
			t.Errorf("%s: its first effect is not at hit %d", action, want)
		}
	}
}

// TestRandomPlansForClusters checks that random plans respect a cluster's size and the
// faults that it accepts.
func TestRandomPlansForClusters(t *testing.T) {
	kills := func(f chaos.Fault) bool { return f.Kind == chaos.Kill && f.Target.Role != chaos.Machine }
	for seed := range testlevel.Seeds(60, 600) {
		for _, c := range []chaos.Cluster{{Masters: 1, Tasknodes: 1, Accepts: kills}, {Masters: 5, Tasknodes: 40, Accepts: kills}} {
			p := chaos.RandomOn(c, seed, chaos.Kinds())
			if err := p.Check(); err != nil || p.Masters != c.Masters || p.Tasknodes != c.Tasknodes || len(p.Faults) == 0 {
				t.Fatalf("seed %d: %v\n%s", seed, err, p.Format())
			}
			for _, f := range p.Faults {
				if !kills(f) || f.Target.Number() == c.Tasknodes {
					t.Errorf("seed %d on %d tasknodes: %v", seed, c.Tasknodes, f)
				}
			}
		}
		none := chaos.Cluster{Masters: 3, Tasknodes: 3, Accepts: func(chaos.Fault) bool { return false }}
		if p := chaos.RandomOn(none, seed, nil); len(p.Faults) != 0 {
			t.Fatalf("seed %d: %s", seed, p.Format())
		}
	}
}
