package sim

import (
	"testing"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim/workload"
)

// oneMapJob returns a job with one map of ten seconds, and optional reduces that copy for one
// second and work for ten.
func oneMapJob(id string, reduces int) workload.Job {
	j := jobOf(id, 0, 1, reduces, 10_000)
	j.Maps[0].Bytes = 1000
	return j
}

// TestPreemption preempts a map after four of its ten seconds. Its slot is free again two
// seconds later at the earliest.
func TestPreemption(t *testing.T) {
	for _, c := range []struct {
		name            string
		mode            preempt.Mode
		costs           preempt.Costs
		finish          int64
		done            preempt.Mode
		lost, conserved int64
	}{
		{name: "kill", mode: preempt.Kill, finish: 6000 + 10_000, lost: 4000},
		{name: "suspend", mode: preempt.Suspend, finish: 6000 + 6000, conserved: 4000},
		{name: "swap", mode: preempt.Suspend, costs: preempt.Costs{MemoryShort: true}, finish: 4000 + 10_000 + 10_000 + 6000, conserved: 4000},
		{name: "split", mode: preempt.Split, finish: 6000 + 6000, conserved: 4000},
		{name: "slow split", mode: preempt.Split, costs: preempt.Costs{SplitMillis: 5000}, finish: 9000 + 6000, conserved: 4000},
		{name: "checkpoint", mode: preempt.Checkpoint, finish: 4000 + 10_000 + 10_000 + 6000, conserved: 4000},
		{name: "small checkpoint", mode: preempt.Checkpoint, costs: preempt.Costs{TaskBytes: 1e7}, finish: 6000 + 100 + 6000, conserved: 4000},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := configOf(1, 1, 1)
			cfg.Costs = c.costs
			r := perform(t, cfg, &script{mode: c.mode, victim: "m_000000", at: 4000, until: 6000}, oneMapJob("a", 0))
			j := r.Jobs[0]
			if j.Finish != c.finish || j.Preemptions != 1 || j.WorkLost != c.lost || j.WorkConserved != c.conserved || j.LocalMaps != 1 {
				t.Errorf("%+v, want it to end at %d", j, c.finish)
			}
			want := Preemption{At: 4000, Job: "a", Mode: c.mode, Lost: c.lost, Conserved: c.conserved}
			if len(r.Preempted) != 1 || r.Preempted[0] != want || byMode(r)[c.mode] != (modeCost{1, c.lost, c.conserved}) {
				t.Errorf("%+v", r.Preempted)
			}
		})
	}
}

// TestPreemptionOfReduces preempts a reduce while it copies, and while it works.
func TestPreemptionOfReduces(t *testing.T) {
	for _, c := range []struct {
		name      string
		mode      preempt.Mode
		at        int64
		finish    int64
		conserved int64
	}{
		{"copying, suspended", preempt.Suspend, 10_400, 12_400 + 600 + 10_000, 400},
		{"working, suspended", preempt.Suspend, 14_000, 16_000 + 7000, 4000},
		{"copying, checkpoint", preempt.Checkpoint, 10_400, 12_400 + 100 + 600 + 10_000, 400},
		{"working, checkpoint", preempt.Checkpoint, 14_000, 16_000 + 100 + 7000, 4000},
		{"working, split", preempt.Split, 14_000, 16_000 + 100 + 7000, 4000},
		{"working, killed", preempt.Kill, 14_000, 16_000 + 11_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := configOf(1, 1, 1)
			cfg.Costs.TaskBytes = 1e7
			r := perform(t, cfg, &script{mode: c.mode, victim: "r_000000", at: c.at, until: c.at + 2000}, oneMapJob("a", 1))
			if j := r.Jobs[0]; j.Finish != c.finish || j.WorkConserved != c.conserved || j.ReduceStart != 10_000 || j.ReduceFinish != c.finish {
				t.Errorf("%+v, want it to end at %d", j, c.finish)
			}
		})
	}
}

// TestSwappedOutSlotIsFreedLate gives another job the slot of a task whose memory is being
// written to disk.
func TestSwappedOutSlotIsFreedLate(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Costs.MemoryShort = true
	s := &script{mode: preempt.Suspend, victim: "m_000000", at: 4000, until: 60_000, othersMay: true}
	r := perform(t, cfg, s, oneMapJob("a", 0), oneMapJob("b", 0))
	if a, b := r.Jobs[0], r.Jobs[1]; b.Start != 4000 || b.Finish != 4000+10_000+10_000 || a.Finish != 60_000+10_000+6000 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestRepeatedSplits splits a map with remote input: each part reads only its own bytes.
func TestRepeatedSplits(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.RemoteRate = 100 // 10 s for the whole block
	cfg.Costs.SplitMillis = 1000
	w := oneMapJob("a", 0)
	cfg.Replication = -1 // nowhere at all
	if cfg.Validate() == nil {
		t.Error("a negative number of copies is taken")
	}
	cfg.Replication, cfg.Machines, cfg.Seed = 1, 2, 1
	s := &script{mode: preempt.Split, victim: "m_000000", at: 5000, until: 6000}
	r := perform(t, cfg, s, w, oneMapJob("b", 0))
	for _, j := range r.Jobs {
		t.Logf("%+v", j)
	}
	sum := make(map[string]float64)
	for _, a := range r.Tasks {
		sum[a.Job] += a.Fraction
		want := int64(a.Fraction * 10_000)
		if !a.Local {
			want *= 2
		}
		if a.Outcome == SplitOff {
			want += 1000
		}
		if took := a.End - a.Start; took != want {
			t.Errorf("%+v took %d ms, want %d", a, took, want)
		}
	}
	if len(r.Tasks) != 3 || sum["a"] != 1 || sum["b"] != 1 {
		t.Errorf("%+v", r.Tasks)
	}
}

// TestSplitBeforeFirstRecord splits a map that has done nothing.
func TestSplitBeforeFirstRecord(t *testing.T) {
	cfg := configOf(1, 1, 1)
	r := perform(t, cfg, &script{mode: preempt.Split, victim: "m_000000", at: 0, until: 2000, wakes: []int64{1}}, oneMapJob("a", 0))
	if j := r.Jobs[0]; j.Finish != 12_000 || j.WorkLost != 0 || j.WorkConserved != 0 || len(r.Tasks) != 2 || r.Tasks[0].Outcome != Killed {
		t.Errorf("%+v\n%+v", j, r.Tasks)
	}
}

// TestCheckpointLostWithMachine checkpoints a map; then its machine fails.
func TestCheckpointLostWithMachine(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Costs.TaskBytes = 1e7
	cfg.Failures = []Failure{{Machine: 0, At: 5000, BackAfter: 1000}}
	r := perform(t, cfg, &script{mode: preempt.Checkpoint, victim: "m_000000", at: 4000, until: 7000}, oneMapJob("a", 0))
	if j := r.Jobs[0]; j.Finish != 17_000 {
		t.Errorf("%+v", j)
	}
}

// TestSuspendedAttemptLostWithMachine suspends a map; then its machine fails.
func TestSuspendedAttemptLostWithMachine(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Failures = []Failure{{Machine: 0, At: 5000, BackAfter: 1000}}
	r := perform(t, cfg, &script{mode: preempt.Suspend, victim: "m_000000", at: 4000, until: 7000}, oneMapJob("a", 0))
	if j := r.Jobs[0]; j.Finish != 17_000 || r.Lost[0].WorkLost != 4000 {
		t.Errorf("%+v, %+v", j, r.Lost)
	}
}

// TestMigratingAttemptHasNoSlot suspends a map whose slot another job keeps. After half a
// minute the map is split, since a machine is idle, and a third job gets the slot. Used
// slots never exceed the slots of the machine.
func TestMigratingAttemptHasNoSlot(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Costs.SplitMillis = 5000
	b := jobOf("b", 3000, 2, 0, 100_000)
	b.Maps[0].Millis = 2000 // next to a, which gives up its slot to the long job
	suspend := &script{mode: preempt.Suspend, victim: "1_m_000000", at: 4000, until: 20_000, othersMay: true}
	r := perform(t, cfg, suspend, oneMapJob("a", 0), b, jobOf("c", 35_000, 1, 0, 10_000))
	checkSeries(t, cfg, r.Series)
	a, c := r.Tasks[0], r.Tasks[len(r.Tasks)-1]
	if a.Outcome != SplitOff || a.Suspended != 30_000 || a.End != 39_000 || c.Job != "c" || c.Start != 35_000 {
		t.Errorf("%+v", r.Tasks)
	}
}

// modeCost sums up the preemptions of one mode.
type modeCost struct {
	Preemptions     int
	Lost, Conserved int64 // ms of work
}

// byMode sums up the cost of each preemption mode.
func byMode(r *Result) map[preempt.Mode]modeCost {
	sums := make(map[preempt.Mode]modeCost)
	for _, p := range r.Preempted {
		sum := sums[p.Mode]
		sums[p.Mode] = modeCost{sum.Preemptions + 1, sum.Lost + p.Lost, sum.Conserved + p.Conserved}
	}
	return sums
}
