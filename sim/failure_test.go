package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/fifo"
)

func TestInvalidFailures(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Failures = []Failure{
		{Machine: 2}, {At: -1}, {BackAfter: -1}, {Phase: "map"}, {Percent: 3},
		{Job: "a", Phase: "shuffle"}, {Job: "a", Phase: "map", Percent: 101}, {Job: "a", Phase: "map", Percent: math.NaN()},
		{Job: "b", Phase: "map"}, {Job: "a", Phase: "reduce"},
	}
	err := cfg.ValidateFor(workloadOf(jobOf("a", 0, 1, 0, 1)))
	for _, want := range []string{
		"machine n0003 at 0 ms for 0 ms: there are machines n0001 to n0002", "machine n0001 at -1 ms", "for -1 ms: times may not be negative",
		`phase without a job: "map" and 0 %`, `phase without a job: "" and 3 %`,
		`phase "shuffle" of job "a": the phase is map or reduce`, `at 101 % of phase "map" of job "a": expected 0 to 100 %`, "NaN % of",
		`job "b": workload test has no such job`, `phase "reduce" of job "a": it has no reduces`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), "no such job") {
		t.Errorf("without a workload: %v", err)
	}
}

// TestFailuresTriggeredByJobs fails a machine at some progress of a job.
func TestFailuresTriggeredByJobs(t *testing.T) {
	for _, c := range []struct {
		failure Failure
		at      int64
	}{
		{Failure{Job: "b", Phase: "map"}, 4000},
		{Failure{Job: "b", Phase: "map", Percent: 50}, 6000},
		{Failure{Job: "b", Phase: "map", Percent: 50, At: 300}, 6300},
		{Failure{Job: "b", Phase: "map", Percent: 51}, 7000},
		{Failure{Job: "a", Phase: "reduce"}, 5000},               // when reduces may start
		{Failure{Job: "a", Phase: "reduce", Percent: 50}, 6800},  // copied at 6000, half done at 6750, seen at 6800
		{Failure{Job: "a", Phase: "reduce", Percent: 100}, 7500}, // when the job has finished
	} {
		cfg := configOf(2, 1, 1)
		c.failure.Machine, c.failure.BackAfter = 1, 100
		cfg.Failures, cfg.Replication, cfg.Expiry = []Failure{c.failure}, 2, 5000
		a, b := jobOf("a", 0, 8, 1, 1000), jobOf("b", 0, 8, 0, 1000)
		a.SlowStart, a.Reduces[0].Millis = 1, 1500
		if c.failure.Phase == "reduce" {
			a, b = jobOf("a", 0, 10, 1, 1000), jobOf("b", 0, 8, 0, 1000)
			a.SlowStart, a.Reduces[0].Millis = 1, 1500
		}
		r := play(t, cfg, a, b)
		if len(r.Lost) != 1 || r.Lost[0].At != c.at || r.Lost[0].Back != c.at+100 || r.Lost[0].ExpiredAt != c.at+100 {
			t.Errorf("%v: %+v, want it at %d", c.failure, r.Lost, c.at)
		}
	}
}

// TestFetchedOutputDoesNotRunAgain loses a machine with half of the maps' output while the
// only reduce works, before or after it has reported its input. The machine expires, or is
// back before that without data.
func TestFetchedOutputDoesNotRunAgain(t *testing.T) {
	for progress, outputs := range map[int64]int{1000: 0, 1_000_000: 3} {
		for _, back := range []int64{0, 500} {
			cfg := configOf(2, 1, 1)
			cfg.Failures, cfg.Expiry, cfg.ProgressInterval = []Failure{{Machine: 1, At: 12_000, BackAfter: back}}, 3000, progress
			j := jobOf("a", 0, 6, 1, 1000)
			j.Reduces[0].Millis = 30_000
			r := play(t, cfg, j)
			if len(r.Lost) != 1 || r.Lost[0].Outputs != outputs || len(r.Recovered) != outputs || r.Jobs[0].State != cluster.JobSucceeded {
				t.Errorf("progress every %d ms, back after %d: lost %+v, recovered %d, want %d", progress, back, r.Lost, len(r.Recovered), outputs)
			}
		}
	}
}

// TestCostOfFailures loses a machine during its second map, before a reduce has copied the
// output of the first.
func TestCostOfFailures(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Failures, cfg.Expiry, cfg.Tasks = []Failure{{Machine: 1, At: 1400}}, 3000, true
	r := play(t, cfg, jobOf("a", 0, 6, 1, 1000))
	want := LostMachine{Machine: 1, At: 1400, ExpiredAt: 4400, Back: -1, Running: 1, WorkLost: 400, Outputs: 1, Output: 1000}
	if len(r.Lost) != 1 || r.Lost[0] != want {
		t.Errorf("%+v, want %+v", r.Lost, want)
	}
	if len(r.Recovered) != 2 {
		t.Fatalf("%+v", r.Recovered)
	}
	for i, want := range []Recovery{
		{Job: "a", Kind: cluster.MapSlot, ExpiredAt: 4400, Start: 4400, Attempt: 1, Local: true},
		{Job: "a", Kind: cluster.MapSlot, ExpiredAt: 4400, Start: 5400, Attempt: 1, Local: true},
	} {
		got := r.Recovered[i]
		want.Task = got.Task
		if got != want || got.Wait() != want.Start-4400 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	outcomes := make(map[Outcome]int)
	for _, a := range r.Tasks {
		outcomes[a.Outcome]++
	}
	if outcomes[MachineLost] != 1 || outcomes[OutputLost] != 1 || outcomes[Finished] != 7 || len(outcomes) != 3 {
		t.Errorf("%v\n%+v", outcomes, r.Tasks)
	}
	if j := r.Jobs[0]; j.Preemptions != 0 || j.WorkLost != 0 {
		t.Errorf("what was lost with a machine was preempted: %+v", j)
	}
}

// TestTwoFailuresOfOneMachine checks the expiry of the second failure.
func TestTwoFailuresOfOneMachine(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Policy, cfg.CheckInvariants, cfg.Expiry = new(fifo.Policy), true, 2000
	cfg.Failures = []Failure{{At: 1000, BackAfter: 500}, {At: 2500, BackAfter: 9000}}
	r, err := Run(t.Context(), cfg, workloadOf(jobOf("a", 0, 1, 0, 3000)))
	must.Do(t, err)
	if len(r.Lost) != 2 || r.Lost[0].ExpiredAt != 1500 || r.Lost[1].ExpiredAt != 4500 || r.Jobs[0].Finish != 14_500 {
		t.Errorf("%+v, %+v", r.Lost, r.Jobs)
	}
}
