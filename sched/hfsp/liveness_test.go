package hfsp

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sched/schedtest"
)

func randomCluster(t *testing.T, seed uint64, conf Config) *schedtest.RandomCluster {
	conf.InitialMillis, conf.DeltaMillis, conf.Preempt.MinRunMillis = [2]int64{20, 20}, 30, 10
	b := schedtest.NewRandomCluster(t, seed, New(conf))
	b.SoftState = schedtest.FullKnowledge{}
	return b
}

func spec(b *schedtest.RandomCluster, g dag.Graph) cluster.JobSpec {
	s := schedtest.Spec(g)
	s.SlowStartPPM = b.Random.IntN(2) * 500_000
	s.Priority = b.Random.IntN(5) - 2
	return s
}

// TestEveryJobEnds runs jobs of all kinds, with readers that start early, failing tasks,
// changing priorities, wrong sizes, and preemption.
func TestEveryJobEnds(t *testing.T) {
	for seed := range testlevel.Seeds(30, 400) {
		conf := Config{
			Placement:  everyPlacement[seed%uint64(len(everyPlacement))],
			Preempt:    everyConfig[seed%uint64(len(everyConfig))],
			Estimator:  NoisyEstimator{Estimator: Mean{}, Error: float64(seed%3) / 2, Seed: seed},
			TrainSlots: [2]int{int(seed%5) - 1, int(seed%3) - 1},
		}
		b := randomCluster(t, seed, conf)
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			jobs = append(jobs, b.Submit(spec(b, b.RandomGraph())))
		}
		b.RunAll(jobs, func() {
			if j := jobs[b.Random.IntN(len(jobs))]; b.Random.IntN(10) == 0 {
				b.Do(cluster.SetPriority{Job: j.ID, Priority: b.Random.IntN(5) - 2})
			}
		})
	}
}

// TestDecisionsAreDeterministic checks that two equal runs end alike, whatever the order
// in which maps are iterated.
func TestDecisionsAreDeterministic(t *testing.T) {
	end := func(seed uint64) int64 {
		b := randomCluster(t, seed, Config{Preempt: everyConfig[seed%uint64(len(everyConfig))]})
		var jobs []*cluster.Job
		for range 6 {
			jobs = append(jobs, b.Submit(spec(b, dag.MapReduce(4+b.Random.IntN(8), b.Random.IntN(3)))))
		}
		b.RunAll(jobs, func() {})
		return b.Now
	}
	for seed := range testlevel.Seeds(10, 60) {
		if a, b := end(seed), end(seed); a != b {
			t.Errorf("seed %d: a life ends at %d, its twin at %d", seed, a, b)
		}
	}
}
