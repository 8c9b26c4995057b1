package hfsp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// sized is an oracle: a map takes 100 s and a reduce 500 s.
var sized = Oracle(func(j *cluster.Job, kind cluster.Slot) (int64, bool) {
	return int64(j.Spec.Graph.Stages[kind].Nodes) * [2]int64{100_000, 500_000}[kind], true
})

// occupied returns four map slots on two machines that a large job has; two of its attempts
// started later than the others.
func occupied(t *testing.T, conf Config) (*fixture, *cluster.Job) {
	conf.Placement, conf.Estimator = blind, sized
	s := newFixture(t, conf, 2, 2, 2)
	large := s.submit(1000, 20, 0)
	for i, at := range []int64{1000, 1000, 2000, 2000} {
		s.do(at, cluster.StartAttempt{Task: large.Stages[0].Tasks[i].ID, Machine: []string{"m0", "m1"}[i%2], Range: large.RangeOf(large.Stages[0].Tasks[i])})
	}
	s.reportProgress(5000, .05)
	return s, large
}

// statesOf counts the attempts of a job: running, suspended, over.
func (s *fixture) statesOf(j *cluster.Job) (running, suspended, ended int) {
	for _, a := range j.Attempts() {
		switch {
		case !a.Active():
			ended++
		case a.Suspended():
			suspended++
		default:
			running++
		}
	}
	return running, suspended, ended
}

func (s *fixture) wantStates(what string, j *cluster.Job, running, suspended, ended int) {
	s.T.Helper()
	if r, st, e := s.statesOf(j); r != running || st != suspended || e != ended {
		s.T.Errorf("%s: %d attempts of %v run, %d are suspended, %d are over; want %d, %d, %d", what, r, j.ID, st, e, running, suspended, ended)
	}
}

// TestYoungestAttemptsAreSuspended checks that as many as needed are suspended, and that
// they resume.
func TestYoungestAttemptsAreSuspended(t *testing.T) {
	s, large := occupied(t, Config{Preempt: suspends})
	small := s.submit(6000, 2, 0)
	s.settle(6000)
	s.want("the small job has come", "2/0", "2/0")
	for _, a := range s.attempts(large, cluster.MapSlot) {
		if a.StartedAt != 1000 {
			t.Errorf("%v keeps running, which started at %d", a.ID, a.StartedAt)
		}
	}
	s.wantStates("two are suspended", large, 2, 2, 0)
	s.finish(106_000, small, cluster.MapSlot, -1)
	s.settle(106_000)
	s.wantStates("and resume", large, 4, 0, 0)
}

// TestGangIsTakenOnce checks that a gang whose slots of both kinds are wanted is preempted once, and that
// nothing else is preempted for the slots that it leaves.
func TestGangIsTakenOnce(t *testing.T) {
	first := Oracle(func(j *cluster.Job, _ cluster.Slot) (int64, bool) { return 1_000_000 / int64(j.ID.Number), true })
	s := newFixture(t, Config{Placement: blind, Estimator: first, Preempt: kills}, 1, 2, 4)
	s.submit(1000, 0, 2)
	s.settle(1000)
	s.submitSpec(1000, schedtest.Spec(schedtest.Streamed(2, 2)))
	s.settle(1000)
	s.want("the cluster is full", "0/2", "2/2")
	s.reportProgress(5000, .05)
	s.submit(6000, 2, 0)
	s.submit(6000, 0, 2)
	if plan := s.decide(6000); len(plan.Preempts) != 1 {
		t.Errorf("preempted are %+v, want the gang", plan.Preempts)
	}
}

// TestPreemptionModes checks victims with other preemption settings.
func TestPreemptionModes(t *testing.T) {
	for name, c := range map[string]struct {
		config                    preempt.Config
		running, suspended, ended int
	}{
		"none":       {preempt.Config{}, 4, 0, 0},
		"wait":       {waits, 4, 0, 0},
		"kill":       {kills, 2, 0, 2},
		"of reduces": {preempt.Config{Map: preempt.Wait, Reduce: preempt.Suspend}, 4, 0, 0},
		"auto":       {preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}, 2, 2, 0},
	} {
		s, large := occupied(t, Config{Preempt: c.config})
		s.submit(6000, 2, 0)
		s.settle(6000)
		s.wantStates(name, large, c.running, c.suspended, c.ended)
	}
}

// TestLeavingSlotsCount checks that slots about to come free are not taken twice.
func TestLeavingSlotsCount(t *testing.T) {
	s, large := occupied(t, Config{Preempt: kills})
	s.submit(6000, 2, 0)
	plan := s.decide(6000)
	if len(plan.Preempts) != 2 || plan.Preempts[0].Mode != preempt.Kill || plan.Preempts[0].Cause == "" {
		t.Fatalf("planned: %+v", plan)
	}
	if again := s.decide(6500); len(again.Preempts)+len(again.Starts) > 0 {
		t.Errorf("while they end it plans %+v", again)
	}
	s.wantStates("two are on their way", large, 2, 0, 2)
}

// TestClaimEndsWithItsCause covers trap 14: if attempts end by themselves, no other is
// preempted.
func TestClaimEndsWithItsCause(t *testing.T) {
	s, large := occupied(t, Config{Preempt: suspends})
	s.submit(6000, 2, 0)
	s.finish(6000, large, cluster.MapSlot, 2)
	s.settle(6000)
	s.want("two have finished in time", "2/0", "2/0")
	s.wantStates("none is suspended", large, 2, 0, 2)
}

// TestUnknownProgress checks that attempts of unknown progress are spared, and looked at
// again.
func TestUnknownProgress(t *testing.T) {
	s, large := occupied(t, Config{Preempt: suspends})
	clear(s.progress)
	s.submit(6000, 2, 0)
	s.settle(6000)
	s.wantStates("nothing is known", large, 4, 0, 0)
	if wake := s.NextWake(); wake != 7000 {
		t.Errorf("it looks again at %d", wake)
	}
}

// TestMargin covers trap 12: a phase that finishes only a little later keeps its slots.
func TestMargin(t *testing.T) {
	for maps, suspended := range map[int]int{20: 0, 19: 0, 15: 4} {
		s := newFixture(t, Config{Placement: blind, Estimator: sized, Preempt: suspends}, 2, 2, 2)
		first := s.submit(1000, 20, 0)
		s.settle(1000)
		s.reportProgress(1000, .01)
		s.submit(1500, maps, 0)
		s.settle(2000)
		if s.wantStates("a job comes", first, 4-suspended, suspended, 0); t.Failed() {
			t.Fatalf("of %d maps", maps)
		}
	}
}

// TestSamplesKeepTheirSlots checks that samples keep their slots although other phases come
// first.
func TestSamplesKeepTheirSlots(t *testing.T) {
	small := Oracle(func(j *cluster.Job, _ cluster.Slot) (int64, bool) { return 1000, j.ID.Number > 1 })
	s := newFixture(t, Config{Placement: blind, Estimator: small, Preempt: suspends, Samples: [2]int{3, 3}}, 2, 2, 2)
	large := s.submit(1000, 20, 0)
	s.settle(1000)
	s.reportProgress(1000, .01)
	s.submit(2000, 4, 0)
	s.settle(2000)
	s.wantStates("three samples", large, 3, 1, 0)
}

// TestMinRun checks that a resumed attempt runs for a while before it is suspended
// again.
func TestMinRun(t *testing.T) {
	s, large := occupied(t, Config{Preempt: suspends})
	first := s.submit(6000, 4, 0)
	s.settle(6000)
	s.wantStates("all are suspended", large, 0, 4, 0)
	s.finish(16_000, first, cluster.MapSlot, -1)
	s.settle(16_000)
	s.wantStates("all resume", large, 4, 0, 0)
	s.submit(20_000, 4, 0)
	s.settle(20_000)
	s.wantStates("for a while", large, 4, 0, 0)
	if wake := s.NextWake(); wake != 26_000 {
		t.Errorf("it looks again at %d", wake)
	}
	s.settle(26_000)
	s.wantStates("for no longer", large, 0, 4, 0)
}

// TestAttemptsResumeOnTheirMachine: for a suspended attempt a slot of its machine is
// taken, and no other.
func TestAttemptsResumeOnTheirMachine(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Estimator: sized, Preempt: suspends}, 2, 2, 1)
	first := s.submit(1000, 4, 0)
	s.settle(1000)
	id := s.View().Machine("m1").Attempts[0].ID
	s.do(2000, cluster.PreemptAttempt{Attempt: id, Mode: preempt.Suspend})
	s.finish(2000, first, cluster.MapSlot, -1)
	later := s.submit(2000, 30, 0)
	for i, machine := range []string{"m1", "m1", "m0", "m0"} { // the youngest are not on m1
		start := later.Stages[0].Tasks[i]
		s.do(2000+int64(i), cluster.StartAttempt{Task: start.ID, Machine: machine, Range: later.RangeOf(start)})
	}
	s.reportProgress(3000, .1)
	s.settle(3000)
	s.wantStates("it resumes", first, 1, 0, 3)
	s.wantStates("one of the other job", later, 3, 1, 0)
	if suspended := later.Stages[0].Suspended()[0]; suspended.Machine != "m1" {
		t.Errorf("a slot of %s was taken", suspended.Machine)
	}
}

// TestLimitOfSuspendedAttempts checks that no more attempts are suspended than there are
// slots, on a machine and in total. When this limit is reached, none is suspended before a
// quarter has resumed.
func TestLimitOfSuspendedAttempts(t *testing.T) {
	restless := suspends
	restless.MinRunMillis = -1
	s := newFixture(t, Config{Placement: blind, Estimator: sized, Preempt: restless}, 1, 4, 1)
	var jobs []*cluster.Job
	for i := range int64(3) {
		jobs = append(jobs, s.submit(1000+i*1000, []int{400, 40, 4}[i], 0))
		s.settle(1000 + i*1000)
		s.reportProgress(1000+i*1000, .01)
	}
	s.wantStates("the first", jobs[0], 0, 4, 0)
	s.wantStates("the second waits for no suspension", jobs[1], 4, 0, 0)
	s.want("the third has to wait", "0/0", "4/0", "0/0")
	for _, slots := range []float64{8, 100} { // by the slots, and by the setting
		s.virtual[cluster.MapSlot].slots = slots
		for i, suspended := range []int{7, 8, 7, 6, 7} {
			if full := s.isFull(cluster.MapSlot, suspended); full != (i == 1 || i == 2) {
				t.Errorf("step %d: with %d suspended attempts of %v slots it is full: %v", i, suspended, slots, full)
			}
		}
		s.conf.MaxSuspended = 8
	}
}

// TestMaxSuspendedIsASetting checks how many attempts of a cluster of four slots are suspended.
func TestMaxSuspendedIsASetting(t *testing.T) {
	for most, suspended := range map[int]int{0: 2, -1: 0, 1: 1, 2: 2, 9: 2} {
		s, large := occupied(t, Config{Preempt: suspends, MaxSuspended: most})
		s.submit(6000, 2, 0)
		s.settle(6000)
		s.wantStates(fmt.Sprint("at most ", most), large, 4-suspended, suspended, 0)
	}
}

// TestReducesThatCouldNotWork covers trap 13: no reduce has a slot while its maps have none,
// and reduces whose maps lose theirs give way.
func TestReducesThatCouldNotWork(t *testing.T) {
	spec := schedtest.Spec(dag.MapReduce(5, 2))
	spec.SlowStartPPM = 0
	s := newFixture(t, Config{Placement: blind, Estimator: sized, Preempt: suspends}, 2, 2, 1)
	first := s.submitSpec(1000, spec)
	s.settle(1000)
	s.want("one map waits", "4/0")
	s.finish(101_000, first, cluster.MapSlot, 3)
	s.settle(101_000)
	s.want("none waits", "2/2")
	s.reportProgress(102_000, .02)
	second := s.submit(102_000, 0+1, 2)
	s.settle(102_000)
	for _, a := range s.attempts(first, cluster.MapSlot) {
		s.do(103_000, cluster.PreemptAttempt{Attempt: a.ID, Mode: preempt.Suspend})
	}
	if p := s.phaseOf(first, cluster.ReduceSlot); !p.stalled || p.late(1<<40) {
		t.Fatalf("its maps are suspended: %+v", p)
	}
	s.finish(104_000, second, cluster.MapSlot, -1)
	s.progress[s.attempts(first, cluster.ReduceSlot)[0].ID] = sched.Progress{ReportedAt: 104_000, Fraction: .1}
	s.settle(104_000)
	s.want("the maps resume, and so may the reduces", "2/2", "0/0")
}

// TestLateJobsShare checks that late jobs share by weight, before all others.
func TestLateJobsShare(t *testing.T) {
	wrong := Oracle(func(j *cluster.Job, _ cluster.Slot) (int64, bool) { return int64(j.ID.Number) * 1000, true })
	s := newFixture(t, Config{Placement: blind, Estimator: wrong}, 1, 6, 1)
	for i := range 3 {
		spec := schedtest.Spec(dag.MapReduce(20, 0))
		if i == 1 {
			spec.Priority = 1
		}
		s.submitSpec(1000, spec)
	}
	s.settle(1000)
	s.want("the first in order", "6/0", "0/0", "0/0")
	s.finish(50_000, s.View().Job(cluster.JobID{Cluster: "1", Number: 1}), cluster.MapSlot, -1)
	s.settle(50_000)
	s.want("all late, 1:2:1", "2/0", "3/0", "1/0")
}

// TestLocalSlotIsUsable checks a stage of several waves with splits elsewhere: a slot is
// usable if the machine has the checkpoint of one of its tasks.
func TestLocalSlotIsUsable(t *testing.T) {
	for _, checkpointed := range []bool{false, true} {
		s := newFixture(t, Config{Placement: blind, Estimator: sized, Preempt: suspends}, 2, 2, 1)
		waves := s.Run(schedtest.Spec(dag.MapReduce(40, 0)), slices.Repeat([]string{"m0"}, 40)...)
		first := s.Start(waves, 0, 0, "m1")
		if checkpointed {
			s.Apply(cluster.CheckpointAttempt{Attempt: first})
		} else {
			s.Apply(cluster.KillAttempt{Attempt: first})
		}
		other := s.Run(schedtest.Spec(dag.MapReduce(2, 0)))
		near, far := s.Start(other, 0, 0, "m0"), s.Start(other, 0, 1, "m1")
		s.Reset(s.Cluster.Now, s.PolicyView())
		c := newClaims(s.Policy, s.Cluster.Now, s.PolicyView(), cluster.MapSlot, sched.Plan{})
		claimant := c.byPhase[s.phaseOf(waves, cluster.MapSlot)]
		for id, want := range map[cluster.AttemptID]bool{near: true, far: checkpointed} {
			_, _, a, _ := s.View().Attempt(id)
			if got := c.usable(claimant, a); got != want {
				t.Errorf("checkpointed on m1: %v; a slot of %s is of use: %v", checkpointed, a.Machine, got)
			}
		}
	}
}
