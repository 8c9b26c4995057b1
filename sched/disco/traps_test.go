package disco

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// Trap 1: with fewer slots than jobs only the oldest have a share. The other jobs get the
// slots that these do not want.
func TestMoreJobsThanSlots(t *testing.T) {
	s := newFixture(t, Config{}, 1, 2, 0)
	first := s.maps(5)
	s.settle()
	s.maps(5)
	s.maps(5)
	want(t, "preempted", s.settle(), map[int]int{1: 1})
	s.clear()
	s.settle()
	want(t, "running", s.running(), []int{1, 1, 0})
	s.do(cluster.KillJob{Job: first.ID})
	s.clear()
	s.settle()
	want(t, "when the first is over", s.running(), []int{0, 1, 1})
}

// Trap 2: the remainder of rounded shares goes to the oldest.
func TestOldestJobsGetTheRemainder(t *testing.T) {
	s := newFixture(t, Config{}, 1, 11, 0)
	for range 3 {
		s.maps(20)
	}
	s.settle()
	want(t, "running", s.running(), []int{4, 4, 3})
}

// Trap 3: others use the slots that jobs below their share do not want.
func TestNoSlotIdlesForShare(t *testing.T) {
	s := newFixture(t, Config{}, 1, 10, 0)
	s.maps(2)
	s.maps(25)
	s.maps(3)
	s.settle()
	want(t, "running", s.running(), []int{2, 5, 3})
}

// between returns a cluster of three reduce slots on which job 2 runs three reduces, while
// all maps of job 1 run and its reduces wait for them.
func between(t *testing.T) (s *fixture, first, second *cluster.Job) {
	s = newFixture(t, Config{ReserveMillis: 600}, 1, 4, 3)
	second = s.submit(dag.MapReduce(1, 9))
	s.settle()
	s.finish(second.Stages[0], 1)
	s.settle()
	first = s.submit(dag.MapReduce(3, 3))
	s.settle()
	want(t, "reduces of job 2", second.Stages[1].Running, 3)
	return s, first, second
}

// Trap 4: slots are reserved for a job between two stages, up to its share, and for a
// limited time.
func TestJobBetweenStagesKeepsItsShare(t *testing.T) {
	s, first, second := between(t)
	s.finish(second.Stages[1], 1)
	s.settle()
	want(t, "reduces of job 2 below its share of 2", second.Stages[1].Running, 2)
	want(t, "given up", s.policy.NextWake()-s.View().Machine("m0").FreeSince[cluster.ReduceSlot], 600)
	s.finish(second.Stages[1], 1)
	s.settle()
	want(t, "reduces of job 2 beside one slot that is kept", second.Stages[1].Running, 2)

	s.finish(first.Stages[0], 3)
	s.settle()
	want(t, "reduces of job 1 when its maps have finished", first.Stages[1].Running, 1)
}

// TestSlotOfAnEndingAttemptIsReserved frees a slot by an end that is in the same batch as the plan.
func TestSlotOfAnEndingAttemptIsReserved(t *testing.T) {
	s, _, _ := between(t)
	s.Now += 10_000
	view := s.PolicyView()
	view.View = view.Freeing(s.Now, map[string]cluster.Capacity{"m0": {Slots: cluster.Slots{0, 1}}})
	want(t, "starts", len(s.policy.Decide(s.Now, view).Starts), 0)
	want(t, "given up", s.policy.NextWake(), s.Now+600)
}

func TestReservationExpires(t *testing.T) {
	s, _, second := between(t)
	s.finish(second.Stages[1], 1)
	s.settle()
	s.Now = s.policy.NextWake() - 1
	want(t, "starts before", len(s.decide().Starts), 0)
	s.Now++
	want(t, "starts then", len(s.decide().Starts), 1)
}

func TestNothingIsReservedWithoutDemand(t *testing.T) {
	s := newFixture(t, Config{}, 1, 4, 3)
	s.submit(dag.MapReduce(3, 3))
	s.settle()
	want(t, "wake", s.policy.NextWake(), 0)
}

// Trap 5: many jobs that arrive at once cause one round of preemptions.
func TestBurstIsOneStep(t *testing.T) {
	s := newFixture(t, Config{}, 1, 10, 0)
	s.maps(50)
	s.settle()
	for range 4 {
		s.maps(50)
	}
	want(t, "preempted in one plan", len(s.decide().Preempts), 8)
	want(t, "preempted in all", s.settle(), map[int]int{1: 8})
	s.clear()
	want(t, "preempted later", s.settle(), map[int]int{})
	want(t, "running", s.running(), []int{2, 2, 2, 2, 2})
}

// Trap 6: a preempted attempt does not count as failed.
func TestPreemptionIsNotAFailure(t *testing.T) {
	s := newFixture(t, Config{}, 1, 4, 0)
	j := s.maps(4)
	s.settle()
	s.maps(4)
	s.settle()
	s.clear()
	want(t, "preempted, killed, failed", []int{j.Stages[0].Preemption.Requested, j.Stages[0].Killed, j.Stages[0].Failed}, []int{2, 0, 0})
	for _, task := range j.Stages[0].Tasks {
		want(t, "failures that count", task.Charged, 0)
	}
}

// Trap 7: the job most above its share loses first, and its youngest attempts.
func TestVictimsAreTakenEvenly(t *testing.T) {
	s := newFixture(t, Config{Placement: sched.Placement{Method: sched.None}}, 1, 12, 0)
	first, second := s.maps(7), s.maps(50)
	s.settle()
	want(t, "before", s.running(), []int{6, 6})
	s.finish(second.Stages[0], 1)
	s.do(cluster.StartAttempt{Task: first.Stages[0].Tasks[6].ID, Machine: "m0"})
	want(t, "uneven", s.running(), []int{7, 5})
	s.maps(50)
	var lost []string
	for _, p := range s.decide().Preempts {
		lost = append(lost, fmt.Sprintf("%d.%d", p.Attempt.Task.Job.Number, p.Attempt.Task.Number))
	}
	want(t, "victims", lost, "[1.6 1.5 2.5 1.4]")
}

// Trap 8: a decision for a job that is over, or about an attempt that has ended, has no
// effect.
func TestFinishedJobPreemptsNothing(t *testing.T) {
	s := newFixture(t, Config{}, 1, 4, 0)
	old := s.maps(9)
	s.settle()
	young := s.maps(9)
	plan := s.decide()
	want(t, "preempted", len(plan.Preempts), 2)
	s.finish(old.Stages[0], 4) // all victims among them
	if _, err := s.State.Apply(cluster.Entry{At: s.Now, Command: cluster.KillAttempt{Attempt: plan.Preempts[0].Attempt}}); err == nil {
		t.Error("an attempt that has ended is killed")
	}
	want(t, "preempted when slots are free", len(s.decide().Preempts), 0)
	s.settle()
	s.maps(9)
	s.do(cluster.KillJob{Job: young.ID})
	s.do(cluster.KillJob{Job: s.policy.jobs[len(s.policy.jobs)-1].Job})
	want(t, "preempted for jobs that are over", len(s.decide().Preempts), 0)
}

// TestSuspendedJobHasNoShare checks that a suspended job limits no other.
func TestSuspendedJobHasNoShare(t *testing.T) {
	s := newFixture(t, Config{}, 1, 6, 0)
	first := s.maps(20)
	s.settle()
	s.do(cluster.SuspendJob{Job: first.ID, PreferSuspend: true})
	second := s.maps(20)
	s.settle()
	s.maps(20)
	s.settle()
	s.clear()
	s.settle()
	want(t, "running beside a job that is suspended", s.running()[1:], []int{3, 3})
	s.do(cluster.KillJob{Job: second.ID})
	s.do(cluster.ResumeJob{Job: first.ID})
	s.clear()
	s.settle()
	want(t, "suspended after the job has resumed", len(first.Stages[0].Suspended()), 3)
}
