package sim

import (
	"fmt"
	"os"
	"testing"
	"time"

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

// benchmark runs a workload repeatedly and reports the speed.
func benchmark(b *testing.B, policy string, nodes int, w *workload.Workload) {
	var events, steps int64
	for b.Loop() {
		r, err := Run(b.Context(), Config{Machines: nodes, MapSlots: 4, ReduceSlots: 2, Policy: policyOf(b, policy)}, w)
		must.Do(b, err)
		events, steps = events+r.Events, steps+r.Steps
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(events), "µs/event")
}

// BenchmarkTargets runs workloads that have a time limit.
func BenchmarkTargets(b *testing.B) {
	for _, c := range []struct {
		name    string
		nodes   int
		within  time.Duration
		prepare func(b *testing.B) *workload.Workload
	}{
		{"fb2009", 100, 5 * time.Second, func(b *testing.B) *workload.Workload { return readTrace(b, "hfsp_fb2009.csv") }},
		{"fb2010", 100, time.Minute, func(b *testing.B) *workload.Workload { return readTrace(b, "hfsp_fb2010.csv") }},
		{"large", 10_000, 2 * time.Minute, func(*testing.B) *workload.Workload { return regular(100, 1000, 13_000) }},
	} {
		for _, policy := range registry.Names() {
			b.Run(c.name+"/"+policy, func(b *testing.B) {
				benchmark(b, policy, c.nodes, c.prepare(b))
				if each := b.Elapsed() / time.Duration(b.N); each > c.within {
					b.Errorf("a run takes %v, more than %v", each, c.within)
				}
			})
		}
	}
}

// regular makes jobs with maps of half a minute and a reduce for every fifty maps. They
// arrive at equal intervals.
func regular(jobs, maps int, gap int64) *workload.Workload {
	w := workloadOf()
	for n := range jobs {
		w.Jobs = append(w.Jobs, jobOf(fmt.Sprintf("j%05d", n), int64(n)*gap, maps, maps/50, 30_000))
	}
	return w
}
