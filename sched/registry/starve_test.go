package registry

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/disco"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/hfsp"
	"github.com/hammr/hammr/sched/schedtest"
)

// crowd is a policy, and one job among others that never end, always more than a cluster can run at once.
// No policy may let the job starve.
type crowd struct {
	rounds  int // within so many rounds the job ends
	policy  func(seed uint64) sched.Policy
	smaller bool // the other jobs are smaller than the job
	plain   bool // reduces of jobs wait for all maps, and all jobs are in one pool
}

var crowds = map[string]crowd{
	"fifo": {rounds: 500, plain: true, policy: func(seed uint64) sched.Policy {
		return fifo.New([]sched.Placement{
			{}, {Patience: 100}, {Method: sched.Delay, Delay: locality.Delay{MachineWait: 30, RackWait: 40}}, {Method: sched.None},
		}[seed%4])
	}},
	"disco": {rounds: 600, policy: func(seed uint64) sched.Policy {
		return disco.New(disco.Config{Placement: sched.Placement{Method: []sched.Method{"", sched.None}[seed%2]}})
	}},
	"fair": {rounds: 500, policy: func(seed uint64) sched.Policy {
		conf := fair.Config{Placement: sched.Placement{Method: []sched.Method{"", sched.None}[seed%2]}, Preemption: seed%4 < 2}
		if conf.ConserveShares = !conf.Preemption; conf.ConserveShares {
			mode := []preempt.Mode{preempt.Suspend, preempt.Checkpoint}[seed%2]
			conf.Preempt = preempt.Config{Map: mode, Reduce: mode, MinRunMillis: 20}
		}
		return fair.New(conf)
	}},
	"hfsp": {rounds: 2000, plain: true, smaller: true, policy: func(seed uint64) sched.Policy {
		mode := append(modes, preempt.Wait)[seed%6]
		return hfsp.New(hfsp.Config{
			Preempt: preempt.Config{Map: mode, Reduce: mode, MinRunMillis: 10}, InitialMillis: [2]int64{20, 20}, DeltaMillis: 30,
		})
	}},
}

// spec returns a job of a graph.
func (c crowd) spec(b *schedtest.RandomCluster, g dag.Graph) cluster.JobSpec {
	s := schedtest.Spec(g)
	if !c.plain {
		s.SlowStartPPM = b.Random.IntN(2) * 500_000
		s.Pool, s.User = []string{"a", "b", "x.y"}[b.Random.IntN(3)], fmt.Sprint(b.Random.IntN(3))
	}
	return s
}

// TestNoJobStarves runs a job of each kind of graph among other jobs until it ends.
func TestNoJobStarves(t *testing.T) {
	others := map[string]func(b *schedtest.RandomCluster) dag.Graph{
		"maps and reduces": func(b *schedtest.RandomCluster) dag.Graph {
			return dag.MapReduce(1+b.Random.IntN(3), 1+b.Random.IntN(2))
		},
		"maps":         func(*schedtest.RandomCluster) dag.Graph { return dag.MapReduce(2, 0) },
		"of all kinds": (*schedtest.RandomCluster).RandomGraph,
	}
	for policy, c := range crowds {
		for name, graph := range map[string]dag.Graph{
			"plain": dag.MapReduce(9, 3), "streamed": schedtest.Streamed(6, 3), "wide": schedtest.TwoSlotGroups(3), "pairs": schedtest.Pairs(3),
		} {
			for kind, of := range others {
				if c.smaller && kind == "of all kinds" {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s among %s", policy, name, kind), func(t *testing.T) {
					for seed := range testlevel.Seeds(4, 20) {
						c.check(t, seed, graph, of)
					}
				})
			}
		}
	}
}

// check runs a job of a graph among others in one life of a cluster.
func (c crowd) check(t *testing.T, seed uint64, graph dag.Graph, of func(b *schedtest.RandomCluster) dag.Graph) {
	const jobs = 16 // that run at the same time
	b := schedtest.NewRandomCluster(t, seed, c.policy(seed))
	b.SoftState = schedtest.FullKnowledge{}
	b.Do(cluster.SetPools{Names: []string{"a", "b", "x.y"}})
	for range jobs / 2 {
		b.Submit(c.spec(b, of(b)))
	}
	s := c.spec(b, graph)
	if !c.plain {
		s.SlowStartPPM = 0
	}
	j := b.Submit(s)
	for round := 0; j.State == cluster.JobRunning; round++ {
		for running(b.View()) < jobs {
			b.Submit(c.spec(b, of(b)))
		}
		b.ApplyPlans()
		if !b.Advance() || round > c.rounds {
			t.Fatalf("seed %d: %d tasks are left after %d rounds", seed, j.Stages[0].Waiting(), round)
		}
	}
}

// running returns how many jobs run.
func running(view cluster.View) (n int) {
	for j := range view.Jobs() {
		if j.State == cluster.JobRunning {
			n++
		}
	}
	return n
}
