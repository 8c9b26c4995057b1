package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// someTrial returns a trial of an experiment that clusters run.
func someTrial() paper.Trial {
	t := paper.Trial{
		Experiment: "fifo-reduces", Arm: "chronos", Seed: 7, Policy: "disco",
		Conf: map[string]string{
			"hammr.disco.transition.hold": "10000", registry.AllocationFile: "x.xml",
			registry.Allocations: `<allocations><pool name="b"><minSharePreemptionTimeout>30</minSharePreemptionTimeout></pool><pool name="a"></pool></allocations>`,
		},
		Cluster: sim.Config{Machines: 8, MapSlots: 8, ReduceSlots: -1},
		Workload: func(uint64) (*workload.Workload, error) {
			return &workload.Workload{Jobs: []workload.Job{{
				ID: "j", Pool: "a", Submit: 5000, SlowStart: -1, Priority: 1,
				Maps: []workload.Task{{Millis: 1000}, {Millis: 2000}, {Millis: 3000}, {Millis: 4000}, {Millis: 5000}},
			}}}, nil
		},
	}
	t.Setup.Preempt = preempt.Config{Map: preempt.Split}
	return t
}

func TestScaledTasksTakeTheirMean(t *testing.T) {
	small := Scale{Speedup: 10, Divisor: 4}.scaled(someTrial())
	w, err := small.Workload(1)
	must.Do(t, err)
	if j := w.Jobs[0]; len(j.Maps) != 2 || j.Maps[0].Millis != 3000 || j.Maps[1].Millis != 3000 || len(j.Reduces) != 0 {
		t.Errorf("job %+v, expected 2 maps of 3000 ms", j)
	}
	if small.Cluster.MapSlots != 2 || small.Cluster.ReduceSlots != -1 || small.Cluster.Machines != 8 {
		t.Errorf("cluster %+v", small.Cluster)
	}
	p := SleepingPlan(w, 10)
	const want = "sleep -D mapreduce.job.name=j -D mapreduce.job.reduce.slowstart.completedmaps=0.05 -D mapreduce.job.queuename=a" +
		" -D mapreduce.job.priority=HIGH -m 2 -mt 300 -r 0 -rt 0 -recordt 6"
	if got := strings.Join(p.Jobs[0].Args, " "); got != want || p.Jobs[0].At.Milliseconds() != 500 {
		t.Errorf("at %v: %s\nwant %s", p.Jobs[0].At, got, want)
	}
}

// TestCostsCountInTheSimulator checks that what a cluster costs at any scale is multiplied in the simulator, and that tasks of
// the real cluster sleep without it.
func TestCostsCountInTheSimulator(t *testing.T) {
	s := Scale{Speedup: 10, Divisor: 4}
	simulated := s.simulated(someTrial())
	w, err := simulated.Workload(1)
	must.Do(t, err)
	if got := w.Jobs[0].Maps[0].Millis; got != 3000+350 || simulated.Cluster.Latency != 100 || simulated.Cluster.ProgressInterval != 10_000 {
		t.Errorf("maps of %d ms, cluster %+v", got, simulated.Cluster)
	}
	if w, err = s.scaled(someTrial()).Workload(1); err != nil || w.Jobs[0].Maps[0].Millis != 3000 {
		t.Errorf("jobs %+v, error %v", w.Jobs, err)
	}
}

func TestSettingsShrinkWithTime(t *testing.T) {
	trial := someTrial()
	trial.Policy = "disco"
	conf := Scale{Speedup: 15}.settings(trial)
	if conf["hammr.disco.transition.hold"] != "667" || conf["hammr.scheduler.map-preemption"] != "split" || conf["hammr.scheduler.reduce-preemption"] != "kill" || conf[registry.AllocationFile] != "" {
		t.Errorf("settings %v", conf)
	}
	if !strings.Contains(conf[registry.Allocations], "<minSharePreemptionTimeout>2</minSharePreemptionTimeout>") {
		t.Errorf("allocations %s", conf[registry.Allocations])
	}
	if pools := strings.Join(poolsOf(conf), " "); pools != "a b" {
		t.Errorf("pools %q", pools)
	}
	// What a policy has by default are times of the workload too.
	trial.Policy, trial.Conf = "hfsp", nil
	conf = Scale{Speedup: 15}.settings(trial)
	if conf["mapred.hfsp-scheduler.sojourn-trainer.reduce.time"] != "4000" || conf[registry.MinRun] != "667" || conf[registry.SplitTime] != "" {
		t.Errorf("settings of hfsp %v", conf)
	}
}

// TestNoOracleOnClusters checks that both sides of a comparison estimate sizes, and that the
// trial itself does not change.
func TestNoOracleOnClusters(t *testing.T) {
	trial := someTrial()
	trial.Conf = map[string]string{estimator: "oracle"}
	if conf := (Scale{}).scaled(trial).Conf; conf[estimator] != "" || trial.Conf[estimator] != "oracle" {
		t.Errorf("settings %v, and of the trial %v", conf, trial.Conf)
	}
}

// TestEveryExperimentIsDecidedOn checks that each experiment of each paper either is scaled or
// has a reason why it does not run, and that the table of all figures says the same.
func TestEveryExperimentIsDecidedOn(t *testing.T) {
	readme, err := os.ReadFile("../../docs/papers/README.md")
	must.Do(t, err)
	seen := make(map[string]bool)
	large := Testbed{}
	large.Config.File.Machines = make([]hostfile.Machine, 101)
	for _, p := range paper.Papers() {
		long, err := p.Plan(paper.Options{Runs: 1, Seed: 1, Controls: true})
		must.Do(t, err)
		plan, err := p.Plan(paper.Options{Short: true, Runs: 1, Seed: 1, Controls: true})
		must.Do(t, err)
		run := 0
		for i := range plan {
			key := p.Name + "/" + plan[i].ID
			seen[key] = true
			_, isScaled := scales[key]
			_, isNotRun := notRun[key]
			if runs := plan[i].Workload != nil; runs && isScaled == isNotRun || !runs && (isScaled || isNotRun) {
				t.Errorf("%s: it has trials: %v, a scale: %v, a reason why it is not run: %v", key, runs, isScaled, isNotRun)
			}
			s, whyNot := ScaleOf(p.Name, &plan[i])
			if whyNot == "" && s.Speedup <= 0 {
				t.Errorf("%s: scale %+v", key, s)
			}
			row := regexp.MustCompile(`(?m)^\| ` + p.Name + ` \|[^|]*\| [^|]*\b` + plan[i].ID + "`" + `[^|]* \| (yes|no)`).FindSubmatch(readme)
			if row == nil || (string(row[1]) == "yes") != (whyNot == "") {
				t.Errorf("%s: docs/papers/README.md has the row %q, and it is not run because: %q", key, row, whyNot)
			}
			onHosts := " | no: "
			if _, whyNot := large.scaleOf(p.Name, &long[i]); whyNot == "" {
				onHosts = fmt.Sprintf(" | `%s --only %s`, %d |", p.Name, plan[i].ID, long[i].Machines()+1)
			}
			if !regexp.MustCompile(`(?m)^\| ` + p.Name + ` \|.*` + plan[i].ID + "`.*" + regexp.QuoteMeta(onHosts)).Match(readme) {
				t.Errorf("%s: docs/papers/README.md has no row with %q", key, onHosts)
			}
			if whyNot == "" {
				run++
			}
		}
		if run == 0 {
			t.Errorf("nothing of %s is run", p.Name)
		}
	}
	for key := range scales {
		if !seen[key] {
			t.Errorf("scale of %s, which is no experiment", key)
		}
	}
	for key := range notRun {
		if !seen[key] {
			t.Errorf("reason for %s, which is no experiment", key)
		}
	}
}

// TestRunnerResumes checks that a Runner reuses a finished trial, repeats a trial of another
// version or scale, and reports a damaged file. It needs no program, because no trial runs.
func TestRunnerResumes(t *testing.T) {
	selection := &Selection{Paper: "chronos", Options: paper.Options{Short: true, Runs: 1, Seed: 1}}
	r := &Runner{Selection: selection, Hammr: "/no/such/program", Work: t.TempDir(), Keep: t.TempDir(), Logf: t.Logf}
	trial := someTrial()
	s, err := selection.scaleOfTrial(trial)
	must.Do(t, err)
	file := filepath.Join(r.Keep, fileName(trial.String())+".json")
	keep := func(scale, version string) {
		t.Helper()
		must.Do(t, jsonfile.Write(file, savedTrial{trial.String(), scale, version, &sim.Result{End: 42}}, 0o666))
	}
	keep(s.key(), version())
	if o, err := r.Run(context.Background(), trial); err != nil || o.End != 42 {
		t.Errorf("outcome %+v, error %v; expected what was kept", o, err)
	}
	for _, another := range [][2]string{{"another", version()}, {s.key(), "another"}} {
		keep(another[0], another[1])
		if _, err := r.Run(context.Background(), trial); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("kept with %v: error %v, expected that it was to be run", another, err)
		}
	}
	must.Do(t, os.WriteFile(file, []byte("{"), 0o666))
	if _, err := r.Run(context.Background(), trial); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("error %v, expected that the file is damaged", err)
	}
}
