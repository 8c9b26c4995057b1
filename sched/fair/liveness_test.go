package fair

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/schedtest"
)

func randomCluster(t *testing.T, seed uint64, conf Config) *schedtest.RandomCluster {
	b := schedtest.NewRandomCluster(t, seed, New(conf))
	b.SoftState = schedtest.FullKnowledge{}
	b.Do(cluster.SetPools{Names: pools})
	return b
}

// spec returns a job in a random pool.
func spec(b *schedtest.RandomCluster, g dag.Graph) cluster.JobSpec {
	s := of(pools[b.Random.IntN(len(pools))], g)
	s.SlowStartPPM = b.Random.IntN(2) * 500_000
	s.User = fmt.Sprint(b.Random.IntN(3))
	return s
}

// keeping returns modes that keep work where shares are conserved, and kill elsewhere.
func keeping(seed uint64) preempt.Config {
	if seed%3 != 1 {
		return preempt.Config{}
	}
	mode := []preempt.Mode{preempt.Suspend, preempt.Checkpoint}[seed%2]
	return preempt.Config{Map: mode, Reduce: mode, MinRunMillis: 20}
}

// TestEveryJobEnds runs jobs of all kinds in all kinds of pools, with readers that start
// early, failing tasks, changing priorities and pools, and preemption.
func TestEveryJobEnds(t *testing.T) {
	for seed := range testlevel.Seeds(60, 300) {
		conf := Config{
			Placement:  placements[seed%uint64(len(placements))],
			Preemption: seed%3 == 0, SizeBasedWeight: seed%5 == 0, NewJobBoost: seed%2 == 0,
			LoadMaxDiff: float64(seed%4) / 3, ConserveShares: seed%3 == 1, Preempt: keeping(seed),
		}
		switch seed % 4 { // no maxima, since some bundles do not fit below them
		case 1:
			conf.Allocations = allocations(t, slow+"<pool name='a'><weight>0</weight></pool><pool name='b'><minMaps>3</minMaps></pool><poolMaxJobsDefault>1</poolMaxJobsDefault>")
		case 2:
			conf.Allocations = allocations(t, slow+"<defaultPoolSchedulingMode>fifo</defaultPoolSchedulingMode><userMaxJobsDefault>2</userMaxJobsDefault>")
		case 3:
			conf.Allocations = allocations(t, slow+"<queue name='x'><schedulingPolicy>drf</schedulingPolicy><queue name='y'/><queue name='z'/></queue>")
		}
		b := randomCluster(t, seed, conf)
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			jobs = append(jobs, b.Submit(spec(b, b.RandomGraph())))
		}
		b.RunAll(jobs, func() {
			j := jobs[b.Random.IntN(len(jobs))]
			switch b.Random.IntN(10) {
			case 0:
				b.Do(cluster.SetPriority{Job: j.ID, Priority: b.Random.IntN(5) - 2})
			case 1:
				if !j.State.Final() {
					b.Do(cluster.SetPool{Job: j.ID, Pool: pools[b.Random.IntN(len(pools))]})
				}
			}
		})
	}
}

// slow contains time-outs that leave tasks of up to 50 ms time to end.
const slow = `<defaultMinSharePreemptionTimeout>0.1</defaultMinSharePreemptionTimeout>
	<fairSharePreemptionTimeout>0.2</fairSharePreemptionTimeout>`

// TestSharesOverTime keeps pools of weights 1 to 3 busy on six slots, as in the evaluation
// of Hammr's paper: over time each gets its share.
func TestSharesOverTime(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 6, 0)
	p := New(Config{Allocations: allocations(t, "<pool name='b'><weight>2</weight></pool><pool name='c'><weight>3</weight></pool>")})
	var jobs []*cluster.Job
	for _, pool := range []string{"a", "b", "c"} {
		jobs = append(jobs, w.Run(in(pool, 700, 0)))
	}
	p.Reset(w.Now, w.PolicyView())
	for range 600 {
		apply(w, p)
		a := w.View().Machine("m").Attempts[w.Now%6]
		p.Observe(w.Now, w.PolicyView(), w.Apply(cluster.FinishAttempt{Attempt: a.ID}))
		p.Observe(w.Now, w.PolicyView(), w.Apply(cluster.ExitAttempt{Attempt: a.ID}))
	}
	apply(w, p)
	for i, j := range jobs {
		if running := j.Stages[0].Running; running != i+1 {
			t.Errorf("job %d runs %d maps, want %d", i+1, running, i+1)
		}
	}
}
