package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim/workload"
	"pgregory.net/rapid"
)

// FuzzSim runs random workloads under any policy, with any preemption mode and with
// failures. Every job ends, no slot is assigned twice, and a second run is equal to the
// first.
func FuzzSim(f *testing.F) {
	for seed := range byte(8) {
		draws := make([]byte, 1<<14) // as many as the longest run needs
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(draws)
		f.Add(draws)
	}
	f.Fuzz(rapid.MakeFuzz(checkRun))
}

// TestRandomRuns checks the properties of FuzzSim for random cases.
func TestRandomRuns(t *testing.T) { rapid.Check(t, checkRun) }

func checkRun(rt *rapid.T) {
	policy := rapid.SampledFrom(registry.Names()).Draw(rt, "policy")
	chaotic := rapid.Bool().Draw(rt, "chaos")
	preemption := drawPreemption(rt)
	cfg, w := drawConfig(rt), drawWorkload(rt)
	cfg.Costs = preemption.Costs
	cfg.Failures = drawFailures(rt, cfg, w)
	first := runOnce(rt, policy, chaotic, preemption, cfg, w)
	checkResult(rt, cfg, first)
	second := runOnce(rt, policy, chaotic, preemption, cfg, w)
	if !reflect.DeepEqual(first.Jobs, second.Jobs) {
		rt.Fatalf("one run gives\n%+v\nthe next\n%+v", first.Jobs, second.Jobs)
	}
	if !reflect.DeepEqual(first, second) {
		rt.Fatalf("two runs differ in more than their jobs")
	}
}

func drawPreemption(rt *rapid.T) preempt.Config {
	modes := rapid.SampledFrom(preempt.Modes)
	return preempt.Config{
		Map: modes.Draw(rt, "maps"), Reduce: modes.Draw(rt, "reduces"),
		Costs: preempt.Costs{
			TaskBytes: rapid.SampledFrom([]int64{1e6, 1e9}).Draw(rt, "memory"), MemoryShort: rapid.Bool().Draw(rt, "short"),
			SplitMillis: rapid.SampledFrom([]int64{0, 1, 3000}).Draw(rt, "end of a part"),
		},
	}
}

func drawConfig(rt *rapid.T) Config {
	return Config{
		Machines: rapid.IntRange(1, 5).Draw(rt, "nodes"), MapSlots: rapid.IntRange(1, 3).Draw(rt, "map slots"),
		ReduceSlots: rapid.IntRange(1, 2).Draw(rt, "reduce slots"), Racks: rapid.IntRange(1, 2).Draw(rt, "racks"),
		SharedSlots: rapid.IntRange(0, 4).Draw(rt, "shared") == 0,
		Replication: rapid.IntRange(1, 3).Draw(rt, "copies"), Seed: rapid.Uint64Range(0, 99).Draw(rt, "seed"),
		ReportInterval: rapid.SampledFrom([]int64{0, 300}).Draw(rt, "report interval"), Latency: rapid.SampledFrom([]int64{-1, 5, 400}).Draw(rt, "latency"),
		ProgressInterval: rapid.SampledFrom([]int64{-1, 700, 3000}).Draw(rt, "progress"), CheckInvariants: true, Tasks: true, Series: true,
	}
}

func drawWorkload(rt *rapid.T) *workload.Workload {
	var jobs []workload.Job
	at := int64(0)
	for n := range rapid.IntRange(1, 5).Draw(rt, "jobs") {
		at += rapid.Int64Range(0, 9000).Draw(rt, "gap")
		j := jobOf(fmt.Sprint("j", n), at, rapid.IntRange(1, 12).Draw(rt, "maps"), rapid.IntRange(0, 4).Draw(rt, "reduces"), 1)
		millis := rapid.Int64Range(0, 40_000).Draw(rt, "millis")
		for _, tasks := range [][]workload.Task{j.Maps, j.Reduces} {
			for i := range tasks {
				tasks[i].Millis = millis + int64(hashOf(0, j.ID, i, 0)%1000)
				tasks[i].Bytes = rapid.SampledFrom([]int64{0, 1, 3, 1 << 20, 1 << 30}).Draw(rt, "bytes")
			}
		}
		j.Pool = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "pool")
		j.Priority = rapid.IntRange(-1, 1).Draw(rt, "priority")
		jobs = append(jobs, j)
	}
	return workloadOf(jobs...)
}

func drawFailures(rt *rapid.T, cfg Config, w *workload.Workload) (failures []Failure) {
	for range rapid.IntRange(0, 3).Draw(rt, "failures") {
		f := Failure{
			Machine: rapid.IntRange(0, cfg.Machines-1).Draw(rt, "node"), At: rapid.Int64Range(0, 30_000).Draw(rt, "at"),
			BackAfter: rapid.Int64Range(1, 20_000).Draw(rt, "back"),
		}
		if j := rapid.SampledFrom(w.Jobs).Draw(rt, "job"); rapid.Bool().Draw(rt, "of a job") {
			f.Job, f.Phase, f.Percent, f.At = j.ID, "map", rapid.Float64Range(0, 100).Draw(rt, "percent"), 0
			if len(j.Reduces) > 0 && rapid.Bool().Draw(rt, "of its reduces") {
				f.Phase = "reduce"
			}
		}
		failures = append(failures, f)
	}
	return failures
}

// conf makes policies preempt as early as possible.
func conf(policy string) map[string]string {
	c := make(map[string]string)
	if policy == "chronos+fair" { // fair alone conserves shares, and so preempts at once
		c["mapred.fairscheduler.preemption"] = "true"
	}
	if registry.HasPools(policy, nil) {
		c[registry.Allocations] = `<allocations><pool name="a"><weight>2</weight><minMaps>2</minMaps><minSharePreemptionTimeout>1</minSharePreemptionTimeout></pool>` +
			`<fairSharePreemptionTimeout>2</fairSharePreemptionTimeout></allocations>`
	}
	return c
}

// patience limits the time of a run with so few tasks.
const patience = 20 * time.Second

func runOnce(rt *rapid.T, policy string, chaotic bool, preemption preempt.Config, cfg Config, w *workload.Workload) *Result {
	p, err := registry.New(policy, conf(policy), sched.Setup{Placement: sched.DefaultPlacement(), Preempt: preemption})
	must.Do(rt, err)
	if cfg.Policy = p; chaotic {
		cfg.Policy = &chaos{Policy: p, seed: cfg.Seed}
	}
	ctx, cancel := context.WithTimeoutCause(rt.Context(), patience, errors.New("the run does not end"))
	defer cancel()
	r, err := Run(ctx, cfg, w)
	must.Do(rt, err)
	return r
}

// checkResult compares the parts of a result with each other.
func checkResult(rt *rapid.T, cfg Config, r *Result) {
	var done [2]map[string]float64
	for kind := range done {
		done[kind] = make(map[string]float64)
	}
	for _, a := range r.Tasks {
		if a.Outcome == Finished || a.Outcome == SplitOff {
			done[a.Kind][a.Job] += a.Fraction
		}
		if a.End < a.Start || a.Suspended > a.End-a.Start {
			rt.Fatalf("%+v", a)
		}
	}
	for _, j := range r.Jobs {
		maps, reduces := done[cluster.MapSlot][j.ID], done[cluster.ReduceSlot][j.ID]
		lost := float64(j.Maps) - maps // not needed when their machine failed
		if j.State != cluster.JobSucceeded || reduces != float64(j.Reduces) || lost < -1e-9 || lost > 1e-9 && (len(r.Lost) == 0 || j.Reduces == 0) {
			rt.Fatalf("%v of its maps and %v of its reduces are done: %+v", maps, reduces, j)
		}
		if j.Reduces == 0 && len(r.Lost) == 0 && j.Sojourn() < j.Alone {
			rt.Fatalf("faster than alone: %+v", j)
		}
		if j.LocalMaps > j.Maps || j.MapFinish < j.MapStart || j.Finish < max(j.MapFinish, j.ReduceFinish) {
			rt.Fatalf("%+v", j)
		}
	}
	for _, p := range r.Preempted {
		if p.Lost > 0 && p.Conserved > 0 || p.Lost < 0 || p.Conserved < 0 || p.Mode == preempt.Kill && p.Conserved > 0 {
			rt.Fatalf("%+v", p)
		}
	}
	for _, rec := range r.Recovered {
		if rec.Wait() < 0 {
			rt.Fatalf("%+v", rec)
		}
	}
	checkSeries(rt, cfg, r.Series)
}

// checkSeries adds up the slots of jobs: never more than there are, and none at the end.
func checkSeries(rt rapid.TB, cfg Config, series []Sample) {
	type key struct {
		job  string
		kind cluster.Slot
	}
	now := make(map[key]Sample)
	for i, s := range series {
		now[key{s.Job, s.Kind}] = s
		if i+1 < len(series) && series[i+1].At == s.At {
			continue
		}
		var used cluster.Slots
		for _, s := range now {
			used[s.Kind] += s.Running
			if s.Running < 0 || s.Suspended < 0 {
				rt.Fatalf("%+v", s)
			}
		}
		maps, reduces := cfg.Machines*cfg.MapSlots, cfg.Machines*cfg.ReduceSlots
		if cfg.SharedSlots {
			maps, reduces = maps-used[cluster.ReduceSlot], maps
		}
		if used[cluster.MapSlot] > maps || used[cluster.ReduceSlot] > reduces {
			rt.Fatalf("%d slots for maps and for reduces are used at %d", used, s.At)
		}
	}
	for _, s := range now {
		if s.Running+s.Suspended != 0 {
			rt.Fatalf("in the end: %+v", s)
		}
	}
}
