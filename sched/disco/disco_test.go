package disco

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"github.com/hammr/hammr/sched/victim"
)

// TestProductionAndResearch checks the paper's experiment: five machines of two cores, and a
// production job that is submitted 20 s after a research job. The production job gets its
// half at once, and the research job loses 20 s of five slots.
func TestProductionAndResearch(t *testing.T) {
	s := newFixture(t, Config{}, 5, 2, 0)
	research := s.maps(25)
	s.settle()
	want(t, "before", s.running(), []int{10})
	s.Now += 20_000
	production := s.maps(25)
	want(t, "preempted", s.settle(), map[int]int{1: 5})
	s.clear()
	want(t, "preempted then", s.settle(), map[int]int{})
	want(t, "after", s.running(), []int{5, 5})
	want(t, "lost, in s", research.Stages[0].SlotMillis/1000, 5*20)
	s.finish(production.Stages[0], 5)
	s.settle()
	want(t, "later", s.running(), []int{5, 5})
	s.do(cluster.KillJob{Job: production.ID, Cause: "done"})
	s.clear()
	s.settle()
	want(t, "in the end", research.Stages[0].Running, 10)
}

// TestShares checks the paper's shares, by kind of slot.
func TestShares(t *testing.T) {
	s := newFixture(t, Config{}, 1, 10, 4)
	for _, g := range []dag.Graph{dag.MapReduce(5, 0), dag.MapReduce(5, 3), dag.MapReduce(0, 9)} {
		s.submit(g)
	}
	s.decide()
	var shares []cluster.Slots
	for _, j := range s.policy.jobs {
		shares = append(shares, j.share)
	}
	want(t, "shares", shares, "[5 map 5 map, 2 reduce 2 reduce]")
}

func TestBundleGetsItsShareWhole(t *testing.T) {
	for _, tt := range []struct {
		name string
		g    dag.Graph
		lost map[int]int
	}{
		{"gangs of two that fit", schedtest.Pairs(9), map[int]int{1: 5}},
		{"a gang that is larger than the share", schedtest.Streamed(6, 1), map[int]int{}},
		{"a gang that fits", schedtest.Streamed(4, 1), map[int]int{1: 4}},
		{"groups of two slots", schedtest.TwoSlotGroups(9), map[int]int{1: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, Config{}, 1, 10, 10)
			s.maps(25)
			s.settle()
			s.submit(tt.g)
			want(t, "preempted", s.settle(), tt.lost)
			s.clear()
			want(t, "preempted then", s.settle(), map[int]int{})
		})
	}
}

func TestVictimsAreTakenAsConfigured(t *testing.T) {
	for mode, then := range map[preempt.Mode]string{
		preempt.Kill: "[kill kill]", preempt.Suspend: "[suspend suspend]", preempt.Checkpoint: "[checkpoint checkpoint]", preempt.Wait: "[]",
	} {
		s := newFixture(t, Config{Preempt: preempt.Config{Map: mode}}, 1, 4, 0)
		s.maps(9)
		s.settle()
		s.maps(9)
		var got []preempt.Mode
		for _, p := range s.decide().Preempts {
			got = append(got, p.Mode)
		}
		want(t, string(mode), got, then)
	}
}

// TestSuspendedAttemptsResume suspends attempts for a new job, and checks that they resume
// when that job is over.
func TestSuspendedAttemptsResume(t *testing.T) {
	s := newFixture(t, Config{Preempt: preempt.Config{Map: preempt.Suspend}}, 1, 4, 0)
	old := s.maps(4)
	s.settle()
	young := s.maps(9)
	s.settle()
	want(t, "suspended, and run by the new one", []int{len(old.Stages[0].Suspended()), young.Stages[0].Running}, []int{2, 2})
	s.do(cluster.KillJob{Job: young.ID})
	s.clear()
	s.settle()
	want(t, "suspended, and lost", []int{len(old.Stages[0].Suspended()), old.Stages[0].Killed}, []int{0, 0})
}

// forgetful knows the progress of attempts from a time on.
type forgetful struct {
	*schedtest.Cluster
	from int64
}

func (f forgetful) Progress(cluster.AttemptID) (sched.Progress, bool) {
	return sched.Progress{ReportedAt: f.Now, Fraction: .5}, f.Now >= f.from
}

func TestAttemptsOfUnknownProgressAreSpared(t *testing.T) {
	s := newFixture(t, Config{}, 1, 4, 0)
	s.maps(9)
	s.settle()
	s.maps(9)
	s.SoftState = forgetful{s.Cluster, s.Now + 1500}
	want(t, "preempted", len(s.decide().Preempts), 0)
	want(t, "looked again after", s.policy.NextWake()-s.Now, victim.Retry)
	s.Now += 2000
	want(t, "preempted when it is known", len(s.decide().Preempts), 2)
}

func TestExplain(t *testing.T) {
	s := newFixture(t, Config{}, 1, 4, 2)
	old := s.submit(dag.MapReduce(3, 2))
	s.settle()
	young := s.maps(9)
	want(t, "young", s.policy.Explain(s.Now, s.PolicyView(), young), "[{map slots 0 of a share of 2, 9 more wanted} {map turn new, with 0 slots so far: jobs above their share lose slots to it} {reduce slots none needed now}]")
	want(t, "old", s.policy.Explain(s.Now, s.PolicyView(), old), "[{map slots 3 of a share of 2, 0 more wanted} {map turn at its share: after jobs below theirs, and after those with fewer slots} "+
		"{reduce slots 0 of a share of 2, 0 more wanted} {reduce turn between two stages: free slots are reserved for it up to its share, 600 ms each}]")
	for _, tt := range []struct {
		a, b *cluster.Job
		yes  bool
	}{{young, old, true}, {old, young, false}, {young, young, false}} {
		if s.policy.Precedes(s.Now, s.PolicyView(), cluster.MapSlot, tt.a, tt.b) != tt.yes {
			t.Errorf("%v before %v is not %v", tt.a.ID, tt.b.ID, tt.yes)
		}
	}
	s.do(cluster.KillJob{Job: young.ID})
	want(t, "one that is over", len(s.policy.Explain(s.Now, s.PolicyView(), young)), 0)
}

func TestDecisions(t *testing.T) {
	s := newFixture(t, Config{}, 1, 5, 0)
	s.maps(1)
	s.maps(9)
	view := s.PolicyView()
	view.Trace = true
	var shares []float64
	for _, d := range s.policy.Decide(s.Now, view).Decisions {
		if d.Kind == sched.DecisionShare && d.Slot == cluster.MapSlot {
			shares = append(shares, d.Share)
		}
	}
	want(t, "shares", shares, "[3 2]")
}
