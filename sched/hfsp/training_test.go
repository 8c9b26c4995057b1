package hfsp

import (
	"math"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// training submits two jobs on a cluster of four slots, of which samples may have two.
func training(t *testing.T) (*fixture, *cluster.Job, *cluster.Job) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{2, 2}, TrainSlots: [2]int{2, 2}}, 1, 4, 4)
	return s, s.submit(1000, 4, 0), s.submit(1000, 10, 0)
}

func TestSamplesComeFirst(t *testing.T) {
	s, small, large := training(t)
	s.settle(1000)
	// Both slots for samples are the first job's, which also comes first in order.
	s.want("at first", "4/0", "0/0")
	s.finish(61_000, small, cluster.MapSlot, 1)
	s.settle(61_000)
	s.want("with a free slot", "3/0", "1/0")
	s.wantSize("one sample is through", small, cluster.MapSlot, 4*60_000, guessed)
	s.finish(71_000, small, cluster.MapSlot, 1)
	s.wantSize("both are", small, cluster.MapSlot, 4*65_000, measured)
	s.wantSize("the other job came before that", large, cluster.MapSlot, 10*60_000, guessed)
	third := s.submit(80_000, 5, 0)
	s.wantSize("who comes later is guessed from it", third, cluster.MapSlot, 5*65_000, guessed)
}

// TestStartedTrainingIsFinishedFirst checks that the training of one job ends before that of
// another begins.
func TestStartedTrainingIsFinishedFirst(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{3, 3}, TrainSlots: [2]int{9, 9}}, 1, 2, 1)
	first := s.submit(1000, 9, 0)
	s.settle(1000)
	s.want("two samples", "2/0")
	s.submit(2000, 2, 0)
	s.finish(10_000, first, cluster.MapSlot, -1)
	s.settle(10_000)
	s.want("the third, and the job whose turn it is", "1/0", "1/0")
}

// TestOnlyOneJobWantsSlots checks that samples, or other tasks, may have all slots.
func TestOnlyOneJobWantsSlots(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, TrainSlots: [2]int{1, 1}}, 1, 8, 1)
	s.submit(1000, 9, 0)
	s.settle(1000)
	s.want("a job in training alone", "8/0")
}

func TestGuesses(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, UnknownSizeFactor: [2]float64{2, 1}, InitialMillis: [2]int64{1000, 0}}, 1, 2, 2)
	j := s.submit(1000, 4, 0)
	s.wantSize("doubt of 2", j, cluster.MapSlot, 4*2*1000, guessed)
}

// TestInfiniteUnknownSizeFactor checks that unsampled tasks of unknown size wait for all jobs of known
// size.
func TestInfiniteUnknownSizeFactor(t *testing.T) {
	conf := Config{Placement: blind, Samples: [2]int{1, 1}, TrainSlots: [2]int{1, 1}, UnknownSizeFactor: [2]float64{math.Inf(1), 1}}
	s := newFixture(t, conf, 1, 2, 1)
	known := s.submit(1000, 30, 0)
	s.settle(1000)
	s.finish(61_000, known, cluster.MapSlot, -1)
	s.submit(61_000, 3, 0)
	s.settle(61_000)
	s.want("a sample of the second, which is smaller by far", "1/0", "1/0")
}

// TestReducesEnterWhenTheyMayStart covers trap 1.
func TestReducesEnterWhenTheyMayStart(t *testing.T) {
	s := newFixture(t, Config{Placement: blind}, 1, 2, 2)
	spec := schedtest.Spec(dag.MapReduce(4, 1))
	spec.SlowStartPPM = 500_000
	j := s.submitSpec(1000, spec)
	s.settle(1000)
	s.finish(11_000, j, cluster.MapSlot, 1)
	s.settle(11_000)
	if p := s.phaseOf(j, cluster.ReduceSlot); p.entered {
		t.Errorf("the reduces are in when one map of four is through: %+v", p)
	}
	s.finish(21_000, j, cluster.MapSlot, 1)
	s.settle(21_000)
	s.wantSize("slow start has passed", j, cluster.ReduceSlot, 60_000, guessed)
	if p := s.phaseOf(j, cluster.ReduceSlot); p.done != 81_000 {
		t.Errorf("the reduce is done at %v", p.done)
	}
}

// TestPhaseWithoutTasks covers trap 4.
func TestPhaseWithoutTasks(t *testing.T) {
	s := newFixture(t, Config{Placement: blind}, 1, 2, 2)
	j := s.submit(1000, 1, 0)
	if s.phaseOf(j, cluster.ReduceSlot) != nil {
		t.Error("a job without reduces has a reduce phase")
	}
}

// TestSizesAreNeverZero covers trap 5: a job of few tasks, or one of estimated size zero,
// does not precede others for ever.
func TestSizesAreNeverZero(t *testing.T) {
	nothing := Oracle(func(*cluster.Job, cluster.Slot) (int64, bool) { return 0, true })
	s := newFixture(t, Config{Placement: blind, Estimator: nothing}, 1, 2, 2)
	s.wantSize("nothing", s.submit(1000, 7, 0), cluster.MapSlot, 7, measured)
}

// TestSamplesThatFail covers trap 6: the next attempts replace failed samples, and after too
// many failures the training of the job ends.
func TestSamplesThatFail(t *testing.T) {
	spec := schedtest.Spec(dag.MapReduce(3, 0))
	spec.MaxAttempts = [2]int{99, 99}
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{1, 1}}, 1, 1, 1)
	j := s.submitSpec(1000, spec)
	for i := range int64(maxFailures) {
		s.settle(1000 + i*10_000)
		if p := s.phaseOf(j, cluster.MapSlot); !p.training() {
			t.Fatalf("after %d failures it is in training no longer", i)
		}
		s.do(6000+i*10_000, cluster.FailAttempt{Attempt: s.attempts(j, cluster.MapSlot)[0].ID, Failure: cluster.Failure{Cause: "bad"}})
	}
	s.wantSize("all have failed", j, cluster.MapSlot, 3*60_000, samplesFailed)
	s.settle(100_000)
	s.finish(107_000, j, cluster.MapSlot, -1)
	s.wantSize("one has not", j, cluster.MapSlot, 3*7000, measured)
}

// TestSizeByProgress checks Delta, and traps 6 and 7: samples that run for long are judged
// by their progress once it is known.
func TestSizeByProgress(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Preempt: suspends, Samples: [2]int{2, 2}, DeltaMillis: 10_000}, 1, 2, 1)
	j := s.submit(1000, 4, 0)
	s.settle(1000)
	s.submit(2000, 1, 0) // wants a slot
	s.progress[s.attempts(j, cluster.MapSlot)[0].ID] = sched.Progress{ReportedAt: 9000, Fraction: .25}
	s.decide(10_000)
	s.wantSize("before it is time", j, cluster.MapSlot, 4*60_000, guessed)
	if wake := s.NextWake(); wake != 11_000 {
		t.Errorf("it looks again at %d for the samples", wake)
	}
	s.decide(11_000)
	s.wantSize("nothing is known of one", j, cluster.MapSlot, 4*60_000, guessed)
	if wake := s.NextWake(); wake != 12_000 {
		t.Errorf("it looks again at %d to ask again", wake)
	}
	s.progress[s.attempts(j, cluster.MapSlot)[1].ID] = sched.Progress{ReportedAt: 12_000}
	s.decide(12_000)
	s.wantSize("one has got nowhere", j, cluster.MapSlot, 4*60_000, guessed)
	s.progress[s.attempts(j, cluster.MapSlot)[1].ID] = sched.Progress{ReportedAt: 11_000, Fraction: .5}
	s.Decide(13_000, s.PolicyView())
	s.wantSize("of both", j, cluster.MapSlot, 4*(8000/.25+10_000/.5)/2, projected)
	s.finish(25_000, j, cluster.MapSlot, -1)
	s.wantSize("they are through", j, cluster.MapSlot, 4*24_000, measured)
}

// TestReducesAreSizedByTheUserFunction: a reduce copies first, as fast as maps write, which
// says nothing about its size.
func TestReducesAreSizedByTheUserFunction(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{1, 1}, DeltaMillis: 10_000}, 1, 1, 1)
	spec := schedtest.Spec(dag.MapReduce(1, 3))
	spec.SlowStartPPM = 0
	j := s.submitSpec(1000, spec)
	s.settle(1000)
	s.want("map and reduce", "1/1")
	s.finish(5000, j, cluster.MapSlot, -1) // the reduce has copied for 2 s since
	reduce := s.attempts(j, cluster.ReduceSlot)[0].ID
	s.progress[reduce] = sched.Progress{ReportedAt: 12_000, Fraction: 2. / 3, ReducingSince: 0}
	s.decide(12_000)
	s.wantSize("it still copies", j, cluster.ReduceSlot, 3*60_000, guessed)
	s.progress[reduce] = sched.Progress{ReportedAt: 13_000, Fraction: .7, ReducingSince: 7000}
	s.decide(14_000)
	s.wantSize("a tenth of the function in 6 s", j, cluster.ReduceSlot, 3*(2000+60_000), projected)
	s.finish(70_000, j, cluster.ReduceSlot, -1)
	s.wantSize("it is through, 65 s after the map", j, cluster.ReduceSlot, 3*65_000, measured)
}

// TestSuspendedTimeDoesNotCount covers trap 8.
func TestSuspendedTimeDoesNotCount(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{1, 1}, DeltaMillis: 10_000}, 1, 1, 1)
	j := s.submit(1000, 1, 0)
	s.settle(1000)
	id := s.attempts(j, cluster.MapSlot)[0].ID
	s.do(5000, cluster.PreemptAttempt{Attempt: id, Mode: preempt.Suspend})
	s.progress[id] = sched.Progress{ReportedAt: 5000, Fraction: .5}
	s.Decide(30_000, s.PolicyView())
	s.wantSize("it has run for 4 s", j, cluster.MapSlot, 60_000, guessed)
	s.settle(31_000)
	s.want("it resumes", "1/0")
	s.finish(34_000, j, cluster.MapSlot, -1)
	s.wantSize("and runs for 3 s more", j, cluster.MapSlot, 7000, measured)
}

// TestSuspendedAttemptsOnLostMachines covers trap 9: the attempts are lost, and their tasks
// start over.
func TestSuspendedAttemptsOnLostMachines(t *testing.T) {
	s := newFixture(t, Config{Placement: blind}, 2, 1, 1)
	j := s.submit(1000, 2, 0)
	s.settle(1000)
	m := s.View().Machine("m0")
	s.do(2000, cluster.PreemptAttempt{Attempt: m.Attempts[0].ID, Mode: preempt.Suspend})
	if p := s.phaseOf(j, cluster.MapSlot); p.suspended != 1 {
		t.Fatalf("%d attempts are suspended", p.suspended)
	}
	s.do(3000, cluster.ExpireMachine{Name: "m0", Epoch: m.Epoch})
	if p := s.phaseOf(j, cluster.MapSlot); p.suspended != 0 || p.wanted != 1 {
		t.Errorf("%d attempts are suspended, %d slots are wanted", p.suspended, p.wanted)
	}
}

// TestSplitTasksAddNoWork covers trap 11: a split leaves a part of the map's range to a new
// task.
func TestSplitTasksAddNoWork(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{2, 2}}, 1, 1, 1)
	j := s.submit(1000, 4, 0)
	s.settle(1000)
	id := s.attempts(j, cluster.MapSlot)[0].ID
	s.do(4000, cluster.SplitTask{Attempt: id, At: dag.Position{Offset: 25}})
	s.finish(5000, j, cluster.MapSlot, -1)
	s.settle(5000)
	s.finish(29_000, j, cluster.MapSlot, -1)
	if len(j.Stages[0].Tasks) != 5 {
		t.Fatalf("%d tasks", len(j.Stages[0].Tasks))
	}
	s.wantSize("a quarter in 4 s, a whole in 24 s", j, cluster.MapSlot, 4*(16_000+24_000)/2, measured)
}

// TestRetriesAddNoWork covers the second part of trap 11: further attempts at the same
// tasks.
func TestRetriesAddNoWork(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{1, 1}}, 2, 1, 1)
	spec := schedtest.Spec(dag.MapReduce(1, 0))
	spec.Speculative = [2]bool{true, true}
	j := s.submitSpec(1000, spec)
	s.settle(1000)
	other := "m1"
	if s.attempts(j, cluster.MapSlot)[0].Machine == other {
		other = "m0"
	}
	s.do(20_000, cluster.SpeculateTask{Task: j.Stages[0].Tasks[0].ID, Machine: other})
	s.wantSize("two tries", j, cluster.MapSlot, 60_000, guessed)
	for _, a := range s.attempts(j, cluster.MapSlot) {
		if a.Machine == other {
			s.do(25_000, cluster.FinishAttempt{Attempt: a.ID, Range: a.Range})
		}
	}
	s.wantSize("the second has run for 5 s", j, cluster.MapSlot, 5000, measured)
}

// TestSamplesOfSuspendedJobsDoNotBlockOthers: the size of a suspended job stays unknown
// until it resumes, and other samples must not wait for that.
func TestSamplesOfSuspendedJobsDoNotBlockOthers(t *testing.T) {
	s, small, large := training(t)
	s.settle(1000)
	s.want("at first", "4/0", "0/0")
	s.do(2000, cluster.SuspendJob{Job: small.ID, PreferSuspend: true})
	s.settle(2000)
	s.want("the other has the slots", "0/0", "4/0")
	if n := s.queues[cluster.MapSlot].samples; n != 2 {
		t.Errorf("%d samples are waited for, want the 2 of the job that is not suspended", n)
	}
	s.finish(60_000, large, cluster.MapSlot, -1)
	s.do(60_000, cluster.ResumeJob{Job: small.ID})
	if n := s.queues[cluster.MapSlot].samples; n != 2 {
		t.Errorf("%d samples are waited for, want the 2 of the job that is resumed", n)
	}
}
