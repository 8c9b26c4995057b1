package registry

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// everyPolicy runs a test with each policy, alone and wrapped by chronos.
func everyPolicy(t *testing.T, test func(t *testing.T, make func() sched.Policy)) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			test(t, func() sched.Policy {
				p, err := New(name, nil, sched.Setup{Placement: sched.DefaultPlacement()})
				must.Do(t, err)
				return p
			})
		})
	}
}

// TestNoPolicyPlansBeyondMemory applies random commands to machines with little memory. The
// state refuses a start that exceeds the memory of its machine, and the test fails if the
// state refuses a part of a plan.
func TestNoPolicyPlansBeyondMemory(t *testing.T) {
	everyPolicy(t, func(t *testing.T, make func() sched.Policy) {
		rapid.Check(t, func(rt *rapid.T) {
			l := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt, Policy: make(), LimitMemory: true}
			l.Policy.Reset(0, l.PolicyView())
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				l.Step()
			}
		})
	})
}

// TestResumeTakesNoMemoryOfTasks lets an attempt be suspended on a machine whose memory a task gets that
// is offered slots earlier.
func TestResumeTakesNoMemoryOfTasks(t *testing.T) {
	everyPolicy(t, func(t *testing.T, make func() sched.Policy) {
		w := schedtest.New(t)
		w.Apply(cluster.JoinMachine{Name: "a", Hosts: []string{"a"}, Slots: cluster.Slots{2, 0}, MemoryMB: 2})
		w.Join("b", 0, 1)
		s := schedtest.Spec(dag.MapReduce(1, 0))
		s.MemoryMB = [2]int64{1, 0}
		w.Run(s, "a")
		s.MemoryMB = [2]int64{2, 0}
		w.Apply(cluster.PreemptAttempt{Attempt: w.Start(w.Run(s), 0, 0, "a"), Mode: preempt.Suspend})
		for _, c := range w.Plan(make()).Commands(w.View()) {
			w.Apply(c)
		}
	})
}

// TestEveryJobEndsWithLittleMemory runs jobs of all kinds whose tasks compete for memory. It
// fails if the policy starts nothing while nothing runs: reduces that start early must leave
// memory for their maps, and small tasks must not starve large ones.
func TestEveryJobEndsWithLittleMemory(t *testing.T) {
	const limitedMemory = 1 // seeds with this remainder of 3 limit the memory
	everyPolicy(t, func(t *testing.T, make func() sched.Policy) {
		for seed := range testlevel.Seeds(4, 36) {
			b := schedtest.NewRandomCluster(t, 3*seed+limitedMemory, make())
			var jobs []*cluster.Job
			for range 4 + b.Random.IntN(4) {
				s := schedtest.Spec(b.RandomGraph())
				s.SlowStartPPM = 0
				jobs = append(jobs, b.Submit(s))
			}
			b.RunAll(jobs, func() {})
		}
	})
}

// TestLargeTaskIsNotStarved submits small jobs all the time while a task that needs most of a
// machine's memory waits. It must start after a bounded number of rounds.
func TestLargeTaskIsNotStarved(t *testing.T) {
	everyPolicy(t, func(t *testing.T, make func() sched.Policy) {
		b := schedtest.NewRandomCluster(t, 1, make())
		small := func() {
			s := schedtest.Spec(dag.MapReduce(3, 0))
			s.MemoryMB = [2]int64{2, 2}
			b.SubmitAs(s)
		}
		for range 6 {
			small()
		}
		s := schedtest.Spec(dag.MapReduce(1, 0))
		s.MemoryMB = [2]int64{7, 7}
		large := b.SubmitAs(s)
		for round := 0; large.Stages[0].Launched == 0; round++ {
			small()
			b.ApplyPlans()
			if !b.Advance() || round > 300 {
				t.Fatalf("the task has not started after %d rounds", round)
			}
		}
	})
}
