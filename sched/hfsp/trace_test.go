package hfsp

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// TestShares checks the shares of the virtual cluster: by weight, and at most as many as a
// job has tasks.
func TestShares(t *testing.T) {
	s := newFixture(t, Config{Placement: blind}, 1, 10, 1)
	s.submit(1000, 20, 0)
	s.submit(1000, 2, 0)
	s.submit(1000, 20, 0)
	s.do(1000, cluster.SetPriority{Job: s.View().Job(cluster.JobID{Cluster: "1", Number: 3}).ID, Priority: 1})
	view := s.PolicyView()
	if len(s.Decide(1000, view).Decisions) > 0 {
		t.Error("decisions without a trace")
	}
	view.Trace = true
	var shares []float64
	for _, d := range s.Decide(1000, view).Decisions {
		if d.Kind == sched.DecisionShare && d.Slot == cluster.MapSlot {
			shares = append(shares, d.Share)
		}
	}
	if want := []float64{8. / 3, 2, 16. / 3}; !slices.Equal(shares, want) {
		t.Errorf("shares are %v, want %v", shares, want)
	}
}
