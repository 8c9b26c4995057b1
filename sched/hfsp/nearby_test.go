package hfsp

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// submitAt starts a job of as many maps as hosts, with splits of equal size on them.
func (s *fixture) submitAt(at, bytes int64, hosts ...string) *cluster.Job {
	s.T.Helper()
	id := s.do(at, cluster.SubmitJob{Spec: schedtest.Spec(dag.MapReduce(len(hosts), 0))}).Submitted
	var splits []cluster.Split
	for _, host := range hosts {
		end := dag.Position{Offset: bytes}
		splits = append(splits, cluster.Split{Hosts: []string{host}, Bytes: bytes, Range: dag.Range{End: end}})
	}
	must.Do(s.T, s.State.Load(id, splits))
	s.do(at, cluster.StartJob{Job: id})
	return s.View().Job(id)
}

// TestSamplesChooseMachinesFirst covers trap 10: a job that comes first in order, but would
// read remote input, leaves the slot to a sample whose input is nearest to it.
func TestSamplesChooseMachinesFirst(t *testing.T) {
	known := Oracle(func(j *cluster.Job, _ cluster.Slot) (int64, bool) { return 10, j.ID.Number == 1 })
	for name, place := range map[string]sched.Placement{
		"flow": {}, "patience": {Patience: 60_000}, "delay": {Method: sched.Delay, Delay: locality.Delay{MachineWait: 60_000, RackWait: 60_000}},
	} {
		s := newFixture(t, Config{Placement: place, Estimator: known, Samples: [2]int{1, 1}}, 2, 1, 1)
		s.submitAt(1000, 9999, "m0", "m0", "m0")
		s.submitAt(1000, 100, "m0", "m0", "m1")
		lines := schedtest.Lines(s.Decide(1000, s.PolicyView()))
		if !slices.Contains(lines, "2m.0@m0 local") {
			t.Errorf("%s: of the job in training nothing runs where its input is: %q", name, lines)
		}
	}
}

// TestSamplesTakeTheNearestTasks checks that a phase chooses its samples by the free slots.
func TestSamplesTakeTheNearestTasks(t *testing.T) {
	s := newFixture(t, Config{Samples: [2]int{1, 1}, TrainSlots: [2]int{1, 1}}, 2, 1, 1)
	s.submitAt(1000, 100, "elsewhere", "elsewhere", "m1", "m1")
	s.submitAt(1000, 100, "elsewhere", "elsewhere", "m1", "m1")
	if lines := schedtest.Lines(s.Decide(1000, s.PolicyView())); !slices.Contains(lines, "1m.2@m1 local") {
		t.Errorf("the sample is none of the tasks nearby: %q", lines)
	}
}

// TestSamplesWaitForNoMachine checks that samples start at once if no slot is near their
// input, even if other tasks wait.
func TestSamplesWaitForNoMachine(t *testing.T) {
	for name, place := range map[string]sched.Placement{
		"flow": {}, "patience": {Patience: 60_000}, "delay": {Method: sched.Delay, Delay: locality.Delay{MachineWait: 60_000, RackWait: 60_000}},
	} {
		s := newFixture(t, Config{Placement: place, Samples: [2]int{2, 2}, TrainSlots: [2]int{2, 2}}, 3, 1, 1)
		j := s.submitAt(1000, 100, "m0", "m0", "m0", "m0", "m0", "m0", "m0", "m0", "m0")
		s.decide(1000)
		if n := len(s.attempts(j, cluster.MapSlot)); n < 2 {
			t.Errorf("%s: %d samples run while slots are free", name, n)
		}
	}
}

// TestAttemptsNearTheirInputAreSamples starts tasks together: of those, the ones with local
// input are timed.
func TestAttemptsNearTheirInputAreSamples(t *testing.T) {
	s := newFixture(t, Config{Samples: [2]int{1, 1}}, 2, 1, 1)
	j := s.submitAt(1000, 100, "m1", "m1")
	for i, machine := range []string{"m0", "m1"} {
		s.do(1000, cluster.StartAttempt{Task: j.Stages[0].Tasks[i].ID, Machine: machine, Range: j.RangeOf(j.Stages[0].Tasks[i])})
	}
	near := j.Stages[0].Tasks[1]
	s.do(31_000, cluster.FinishAttempt{Attempt: near.Attempts[0].ID, Range: near.Range})
	s.wantSize("the one beside its input is through", j, cluster.MapSlot, 2*30_000, measured)
	s.Reset(31_000, s.PolicyView())
	s.wantSize("found again", j, cluster.MapSlot, 2*30_000, measured)
}
