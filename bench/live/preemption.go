package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
	"github.com/hammr/hammr/sim/workload"
)

// Preemption compares preemption modes: a high-priority job arrives at a cluster that a
// low-priority job has filled, and tasknodes fail when half of the low-priority job's maps
// or reduces are done. The arms wait for slots, take them by kill, or take them with the
// work conserved.
//
// Each combination has a cluster of its own with 4 tasknodes of 2 map and 2 reduce slots:
//
//	load                 what is taken
//	map-heavy            maps of 16 s, which can be split
//	reduce-heavy         reduces of 16 s, in two waves
//	one wave of reduces  reduces of 24 s, all running at once
//
// Tasks sleep, so cores do not limit them. The measure is the sojourn time of both jobs. It
// shows what the urgent job gains and what the other job loses. A cluster that has lost a machine
// is no longer the same, so no two runs share one.
func (b Bench) Preemption(ctx context.Context) (tables.Results, error) {
	list, err := b.comparePreemption(ctx)
	return preemptionResults(list), err
}

// preemptionArms are the modes for maps and reduces. "auto" chooses the cheapest mode that
// keeps the work.
var preemptionArms = []struct{ name, mode string }{{"wait", "wait"}, {"kill", "kill"}, {"work-conserving", "auto"}}

// preemptionLoads are the pairs of jobs, times in ms; the second arrives late. With one wave
// of reduces, the reduces lost with a machine start over in the first free slots, in every
// mode.
var preemptionLoads = []struct {
	name      string
	low, high workload.Job
	late      int64
	phase     string // of the first job; machines fail at half of it
}{
	{"map-heavy", pair("low", 16, 16000, 2, 1000), pair("high", 8, 2000, 2, 1000), 8000, "map"},
	{"reduce-heavy", pair("low", 8, 1000, 16, 16000), pair("high", 4, 1000, 8, 2000), 10000, "reduce"},
	{"one wave of reduces", pair("low", 8, 1000, 8, 24000), pair("high", 4, 1000, 4, 3000), 8000, "reduce"},
}

// pair returns a job of a preemptionLoads entry: "high" has high priority and a pool of that
// name.
func pair(id string, maps int, mapMillis int64, reduces int, reduceMillis int64) workload.Job {
	j := evenJob(id, maps, mapMillis, reduces, reduceMillis)
	j.Pool, j.Priority = id, -1
	if id == "high" {
		j.Priority = 2
	}
	return j
}

// PreemptionRun is one run of the comparison. Its first four fields identify it.
type PreemptionRun struct {
	Load      string
	Failures  int
	Arm       string
	Run       int
	High, Low time.Duration // sojourn times of the two jobs
}

// comparePreemption runs all loads, numbers of failures and arms. The order of arms rotates from
// run to run, so that each is first equally often, and warming up favours none.
func (b Bench) comparePreemption(ctx context.Context) (list []PreemptionRun, err error) {
	for run := range b.N {
		for load := range preemptionLoads {
			for failures := range 3 {
				for turn := range preemptionArms {
					// Run 0 begins with the first arm, run 1 with the second.
					arm := (turn + run) % len(preemptionArms)
					r := PreemptionRun{Load: preemptionLoads[load].name, Failures: failures, Arm: preemptionArms[arm].name, Run: run}
					b.Logf("%s, %d failures, %s, run %d", r.Load, failures, r.Arm, run+1)
					if err := b.preempt(ctx, &r, load, preemptionArms[arm].mode); err != nil {
						return list, fmt.Errorf("%s, %d failures, %s: %w", r.Load, failures, r.Arm, err)
					}
					list = append(list, r)
				}
			}
		}
	}
	return list, nil
}

// preemptionPools take slots soon from a pool that has more than its share. The pool high
// has nine tenths of the shares, and both time-outs are the least possible, 1 s.
const preemptionPools = `<allocations>
  <fairSharePreemptionTimeout>1</fairSharePreemptionTimeout>
  <pool name="low"><weight>1</weight></pool>
  <pool name="high"><weight>9</weight><minMaps>6</minMaps><minReduces>6</minReduces><minSharePreemptionTimeout>1</minSharePreemptionTimeout></pool>
</allocations>
`

// preempt runs one load under one arm. The failing machines depend on the run and not on the
// arm.
func (b Bench) preempt(ctx context.Context, r *PreemptionRun, load int, mode string) (err error) {
	l := preemptionLoads[load]
	cluster, err := Start(ctx, Config{
		Hammr: b.Hammr, Dir: filepath.Join(b.Work, "cluster"), Tasknodes: 4, MapSlots: 2, ReduceSlots: 2, Pools: []string{"low", "high"},
		Expiry: time.Second, Testbed: b.Testbed, Policy: "fair", Conf: map[string]string{
			"mapred.fairscheduler.preemption": strconv.FormatBool(mode != "wait"), registry.ConserveShares: "false", registry.Allocations: preemptionPools,
			"hammr.scheduler.map-preemption": mode, "hammr.scheduler.reduce-preemption": mode,
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	w := &workload.Workload{Name: l.name, Jobs: []workload.Job{l.low, l.high}}
	w.Jobs[1].Submit = l.late
	plan := SleepingPlan(w, 1)
	for i := range r.Failures {
		plan.Failures = append(plan.Failures, sim.Failure{Machine: (r.Run + i) % 4, Job: "low", Phase: l.phase, Percent: 50})
	}
	name := fmt.Sprintf("%s-%d-%s-%d", strings.ReplaceAll(r.Load, " ", "-"), r.Failures, r.Arm, r.Run+1)
	run, err := cluster.Run(ctx, plan, filepath.Join(b.Keep, "raw", name))
	if err != nil {
		return err
	}
	r.Low, r.High = sojournOf(run, 0), sojournOf(run, 1)
	return nil
}

func sojournOf(r *Run, job int) time.Duration {
	return time.Duration(r.Jobs[job].FinishTime-r.Jobs[job].SubmitTime) * time.Millisecond
}

// preemptionResults has a line for each run, with sojourn times in s, and the medians of each
// combination with their ratios to the medians of wait and of kill. A ratio below 1 is a gain
// against that arm.
func preemptionResults(runs []PreemptionRun) tables.Results {
	r := tables.Results{
		Samples: tables.New("load", "failures", "arm", "run", "high_s|%.3f", "low_s|%.3f"),
		Summary: tables.New("LOAD|%s", "FAILURES|%d", "ARM", "RUNS|%d", "HIGH|%.1f s", "TO WAIT|%.2f", "TO KILL|%.2f", "LOW|%.1f s", "TO WAIT|%.2f", "TO KILL|%.2f"),
	}
	for _, b := range runs {
		r.Samples.Add(b.Load, b.Failures, b.Arm, b.Run+1, b.High.Seconds(), b.Low.Seconds())
	}
	median := func(g PreemptionRun, arm string, of func(PreemptionRun) time.Duration) float64 {
		var seconds []float64
		for _, b := range runs {
			if b.Load == g.Load && b.Failures == g.Failures && b.Arm == arm {
				seconds = append(seconds, of(b).Seconds())
			}
		}
		return results.SpreadOf(seconds).Median
	}
	sorted := slices.SortedStableFunc(slices.Values(runs), func(a, b PreemptionRun) int {
		return cmp.Or(cmp.Compare(a.Load, b.Load), cmp.Compare(a.Failures, b.Failures))
	})
	combination := func(b PreemptionRun) PreemptionRun {
		return PreemptionRun{Load: b.Load, Failures: b.Failures, Arm: b.Arm}
	}
	for g, list := range tables.Groups(sorted, combination) {
		line := []any{g.Load, g.Failures, g.Arm, len(list)}
		for _, of := range []func(PreemptionRun) time.Duration{PreemptionRun.high, PreemptionRun.low} {
			own := median(g, g.Arm, of)
			line = append(line, own, own/median(g, "wait", of), own/median(g, "kill", of))
		}
		r.Summary.Add(line...)
	}
	return r
}

func (b PreemptionRun) high() time.Duration { return b.High }
func (b PreemptionRun) low() time.Duration  { return b.Low }
