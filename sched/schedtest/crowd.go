package schedtest

import (
	"iter"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
)

// Crowd is one job among others that never end, always more than a cluster can run at once. No
// policy may let the job starve.
type Crowd struct {
	Seeds      iter.Seq[uint64] // of the lives of each graph among each kind of other jobs
	Rounds     int              // within so many rounds the job ends
	NewCluster func(t *testing.T, seed uint64) *RandomCluster
	Spec       func(b *RandomCluster, g dag.Graph) cluster.JobSpec
	Smaller    bool // the other jobs are smaller than the job
}

// Test runs a job of each kind of graph among other jobs until it ends.
func (c Crowd) Test(t *testing.T) {
	others := map[string]func(b *RandomCluster) dag.Graph{
		"maps and reduces": func(b *RandomCluster) dag.Graph {
			return dag.MapReduce(1+b.Random.IntN(3), 1+b.Random.IntN(2))
		},
		"maps": func(*RandomCluster) dag.Graph { return dag.MapReduce(2, 0) },
	}
	if !c.Smaller {
		others["of all kinds"] = (*RandomCluster).RandomGraph
	}
	for name, graph := range map[string]dag.Graph{
		"plain": dag.MapReduce(9, 3), "streamed": Streamed(6, 3), "wide": TwoSlotGroups(3), "pairs": Pairs(3),
	} {
		for kind, of := range others {
			for seed := range c.Seeds {
				if left := c.run(c.NewCluster(t, seed), graph, of); left > 0 {
					t.Fatalf("%s among %s, seed %d: %d tasks are left after %d rounds", name, kind, seed, left, c.Rounds)
				}
			}
		}
	}
}

// run runs a job of a graph among others. It returns how many of its tasks are left after all rounds.
func (c Crowd) run(b *RandomCluster, graph dag.Graph, of func(b *RandomCluster) dag.Graph) (left int) {
	const jobs = 16 // that run at the same time
	for range jobs / 2 {
		b.Submit(c.Spec(b, of(b)))
	}
	s := c.Spec(b, graph)
	s.SlowStartPPM = 0
	j := b.Submit(s)
	for range c.Rounds {
		for b.running() < jobs {
			b.Submit(c.Spec(b, of(b)))
		}
		b.ApplyPlans()
		more := b.Advance()
		if j.State != cluster.JobRunning {
			return 0
		}
		if !more {
			break
		}
	}
	return max(1, j.Stages[0].Waiting())
}

// running returns how many jobs run.
func (b *RandomCluster) running() (n int) {
	for j := range b.View().Jobs() {
		if j.State == cluster.JobRunning {
			n++
		}
	}
	return n
}
