package fair

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// pools are the pools of the tests' jobs.
var pools = []string{"a", "b", "c", "x.y", "x.z", "other", "more"}

// newCluster returns a cluster with pools.
func newCluster(t testing.TB) *schedtest.Cluster {
	w := schedtest.New(t)
	w.Apply(cluster.SetPools{Names: pools})
	return w
}

// allocations parses the content of an <allocations> element.
func allocations(t rapid.TB, text string) *pool.Allocations {
	t.Helper()
	a, err := pool.Parse("fair-scheduler.xml", []byte("<allocations>"+text+"</allocations>"))
	must.Do(t, err)
	return a
}

// in runs a job of maps and reduces in a pool; reduces start at once.
func in(pool string, maps, reduces int) cluster.JobSpec {
	return of(pool, dag.MapReduce(maps, reduces))
}

func of(pool string, g dag.Graph) cluster.JobSpec {
	s := schedtest.Spec(g)
	s.Pool, s.SlowStartPPM = pool, 0
	return s
}

// got returns how many maps and reduces a plan starts, by number of job.
func got(plan sched.Plan) map[int][2]int {
	out := make(map[int][2]int)
	count := func(s sched.Start) {
		n := out[s.Task.Job.Number]
		if s.Task.Stage == "r" {
			n[1]++
		} else {
			n[0]++
		}
		out[s.Task.Job.Number] = n
	}
	for s := range plan.AllStarts() {
		count(s)
	}
	return out
}

// want checks how many maps and reduces a new policy starts of each job, in order of jobs.
func want(t *testing.T, w *schedtest.Cluster, conf Config, jobs ...[2]int) {
	t.Helper()
	plan := got(w.Plan(New(conf)))
	wanted := make(map[int][2]int)
	for i, n := range jobs {
		if n != [2]int{} {
			wanted[i+1] = n
		}
	}
	if fmt.Sprint(plan) != fmt.Sprint(wanted) {
		t.Errorf("jobs get %v, want %v", plan, wanted)
	}
}

// apply applies plans until one is empty.
func apply(w *schedtest.Cluster, p *Policy) (preempts []sched.Preempt) {
	for {
		plan := p.Decide(w.Now, w.PolicyView())
		preempts = append(preempts, plan.Preempts...)
		all := plan.Commands(w.View())
		if len(all) == 0 {
			return preempts
		}
		for _, c := range all {
			p.Observe(w.Now, w.PolicyView(), w.Apply(c))
		}
	}
}

// placements lists all placement methods.
var placements = []sched.Placement{
	{},
	{Patience: 100},
	{Method: sched.Delay, Delay: locality.Delay{MachineWait: 30, RackWait: 40}},
	{Method: sched.None},
}
