package fifo

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

func newRandomCluster(t *testing.T, seed uint64, placement sched.Placement) *schedtest.RandomCluster {
	return schedtest.NewRandomCluster(t, seed, New(placement))
}

// job submits a job of a graph, with slow start in millionths.
func job(g dag.Graph, slowStart int) cluster.JobSpec {
	s := schedtest.Spec(g)
	s.SlowStartPPM = slowStart
	return s
}

// TestEveryJobEnds runs jobs of all kinds at the same time, with readers that start early,
// failing tasks, and changing priorities.
func TestEveryJobEnds(t *testing.T) {
	for seed := range testlevel.Seeds(30, 400) {
		b := newRandomCluster(t, seed, placements[seed%uint64(len(placements))])
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			jobs = append(jobs, b.Submit(job(b.RandomGraph(), b.Random.IntN(2)*500_000)))
		}
		b.RunAll(jobs, func() {
			if b.Random.IntN(5) == 0 {
				b.Do(cluster.SetPriority{Job: jobs[b.Random.IntN(len(jobs))].ID, Priority: b.Random.IntN(3)})
			}
		})
	}
}

// TestSmallJobsStarveNoGang runs one gang among small jobs, always more than the cluster can
// run.
func TestSmallJobsStarveNoGang(t *testing.T) {
	small := map[string]func(b *schedtest.RandomCluster) dag.Graph{
		"maps and reduces": func(b *schedtest.RandomCluster) dag.Graph {
			return dag.MapReduce(1+b.Random.IntN(3), 1+b.Random.IntN(2))
		},
		"maps":         func(*schedtest.RandomCluster) dag.Graph { return dag.MapReduce(2, 0) },
		"of all kinds": (*schedtest.RandomCluster).RandomGraph,
	}
	for name, graph := range map[string]dag.Graph{"streamed": schedtest.Streamed(6, 3), "wide": schedtest.TwoSlotGroups(3), "pairs": schedtest.Pairs(3)} {
		for kind, of := range small {
			for seed := range testlevel.Seeds(2, 24) {
				b := newRandomCluster(t, seed, placements[seed%uint64(len(placements))])
				for range 8 {
					b.Submit(job(of(b), 0))
				}
				gang := b.Submit(job(graph, 0))
				for round := 0; gang.State == cluster.JobRunning; round++ {
					for range 2 {
						b.Submit(job(of(b), 0))
					}
					b.ApplyPlans()
					if !b.Advance() || round > 500 {
						t.Fatalf("%s among %s, seed %d: %d tasks are left after %d rounds", name, kind, seed, gang.Stages[0].Waiting(), round)
					}
				}
			}
		}
	}
}

// TestMapTasksDoNotWaitInSlots starts a reduce early, which waits for maps. A later stage of
// another job must not take their slot to wait for reduces.
func TestMapTasksDoNotWaitInSlots(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 1)
	early := w.run(0, dag.MapReduce(2, 1))
	first := w.Start(early, 0, 0, "a")
	w.Start(early, 1, 0, "a")
	later := w.run(1, dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 1}, {Name: "reduce", Nodes: 1}, {Name: "top", Nodes: 1, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "map", To: "reduce"}, {From: "reduce", To: "top"}},
	})
	w.Apply(cluster.FinishAttempt{Attempt: first, Range: early.RangeOf(early.Stages[0].Tasks[0])})
	id := w.Start(later, 0, 0, "a")
	w.Apply(cluster.FinishAttempt{Attempt: id, Range: later.RangeOf(later.Stages[0].Tasks[0])})
	if got := w.whole(sched.Placement{}); !slices.Equal(got, []string{"1m.1@a"}) {
		t.Errorf("plan is %q: the reduces of both jobs wait for the other map", got)
	}
}
