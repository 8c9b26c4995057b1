package fifo

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// checkpointed starts a gang and checkpoints it. The map has finished by then, or has a
// checkpoint like the reduce.
func (w *testCluster) checkpointed(priority int, finished bool) *cluster.Job {
	w.T.Helper()
	j, starts := w.gang(priority)
	first, second := cluster.AttemptID{Task: starts[0].Task}, cluster.AttemptID{Task: starts[1].Task}
	w.Apply(cluster.PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint})
	if finished {
		w.Apply(cluster.FinishAttempt{Attempt: first, Range: starts[0].Range})
	} else {
		w.Apply(cluster.CheckpointAttempt{Attempt: first})
	}
	w.Apply(cluster.CheckpointAttempt{Attempt: second})
	return j
}

// TestCheckpointedBundles checks that gangs resume as a whole, on their machines if these
// have slots, in as many slots as the unfinished tasks need. Slots are reserved for them.
func TestCheckpointedBundles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		build func(w *testCluster)
		want  []string
	}{
		{"each at home, though one machine fits both", func(w *testCluster) {
			w.join2(1, 1)
			w.checkpointed(0, false)
		}, []string{"{1m.0@a, 1r.0@b}"}},
		{"elsewhere when its home is full", func(w *testCluster) {
			w.join2(1, 1)
			w.checkpointed(0, false)
			w.Start(w.run(0, dag.MapReduce(1, 0)), 0, 0, "a")
		}, []string{"{1m.0@b, 1r.0@b}"}},
		{"without what has finished", func(w *testCluster) {
			w.join2(1, 1)
			w.checkpointed(0, true)
			for range 2 {
				w.run(1, dag.MapReduce(1, 0))
			}
		}, []string{"2m.0@a", "3m.0@b", "{1r.0@b}"}},
		{"not until there are slots for both, and one is held", func(w *testCluster) {
			w.Join("a", 1, 0)
			w.Join("b", 0, 1)
			w.checkpointed(0, false)
			w.run(1, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(0, 1))
		}, []string{"2m.0@a"}},
		{"not while its job is suspended", func(w *testCluster) {
			w.join2(1, 1)
			w.Apply(cluster.SuspendJob{Job: w.checkpointed(0, false).ID})
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestCluster(t)
			tt.build(w)
			if got := w.whole(sched.Placement{}); !slices.Equal(got, tt.want) {
				t.Errorf("plan is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

// TestEveryJobEnds runs jobs of all kinds at the same time, with readers that start early, changing
// priorities, and tasks that are checkpointed repeatedly, or fail.
func TestEveryJobEnds(t *testing.T) {
	gangs := 0
	for seed := range testlevel.Seeds(30, 400) {
		b := newRandomCluster(t, seed, placements[seed%uint64(len(placements))])
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			jobs = append(jobs, b.Submit(job(b.RandomGraph(), b.Random.IntN(2)*500_000)))
		}
		b.RunAll(jobs, func() {
			if b.Random.IntN(4) == 0 {
				checkpointOne(b)
			}
			if b.Random.IntN(5) == 0 {
				b.Do(cluster.SetPriority{Job: jobs[b.Random.IntN(len(jobs))].ID, Priority: b.Random.IntN(3)})
			}
			if err := b.State.CheckInvariants(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		})
		for _, j := range jobs {
			for _, s := range j.Stages {
				if s.Bundle.Gang {
					gangs += s.Preemption.Checkpoints
				}
			}
		}
	}
	if gangs < testlevel.Choose(25, 300) {
		t.Errorf("tasks of gangs have written %d checkpoints", gangs)
	}
}

// checkpointOne orders a random running attempt, and its gang with it, to write a checkpoint and end. It
// does nothing if none runs.
func checkpointOne(b *schedtest.RandomCluster) {
	var running []cluster.AttemptID
	for m := range b.View().Machines() {
		for _, a := range m.Attempts {
			if a.State == cluster.AttemptRunning {
				running = append(running, a.ID)
			}
		}
	}
	if len(running) > 0 {
		b.Do(cluster.PreemptAttempt{Attempt: running[b.Random.IntN(len(running))], Cause: "others", Mode: preempt.Checkpoint})
	}
}
