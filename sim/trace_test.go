package sim

import (
	"os"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim/workload"
)

// traces is the directory of public traces next to the repository, if there is one.
const traces = "../../shared/traces/"

func readTrace(t testing.TB, name string) *workload.Workload {
	t.Helper()
	if _, err := os.Stat(traces + name); err != nil {
		t.Skip("no traces: ", err)
	}
	w, err := workload.ReadFile(traces+name, workload.Options{})
	must.Do(t, err)
	return w
}

func policyOf(t testing.TB, name string) sched.Policy {
	t.Helper()
	p, err := registry.New(name, nil, sched.Setup{Placement: sched.DefaultPlacement()})
	must.Do(t, err)
	return p
}

// TestTrace runs the smaller workload of the HFSP paper.
func TestTrace(t *testing.T) {
	w := readTrace(t, "hfsp_fb2009.csv")
	r, err := Run(t.Context(), Config{Machines: 100, MapSlots: 4, ReduceSlots: 2, Policy: policyOf(t, "fifo")}, w)
	must.Do(t, err)
	maps, reduces := 0, 0
	for _, j := range r.Jobs {
		maps, reduces = maps+j.Maps, reduces+j.Reduces
		if j.State != cluster.JobSucceeded || j.Slowdown() < 1 || j.MapFinish > j.Finish {
			t.Errorf("%+v", j)
		}
	}
	if len(r.Jobs) != 100 || maps != 13_757 || reduces != 2_301 || r.Summary().Local < 0.9 {
		t.Errorf("%d jobs, %d maps, %d reduces; %+v", len(r.Jobs), maps, reduces, r.Summary())
	}
}
