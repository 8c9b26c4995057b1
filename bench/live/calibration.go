package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hammr/hammr/bench/data"
	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
	"github.com/hammr/hammr/sim/workload"
)

// Calibrate compares the simulator with a real cluster. It runs plans on clusters of this
// machine under several policies, simulates the histories of these runs, and reports the errors
// of the predicted sojourn times.
//
// Each run has two predictions. The replay knows the time of each task in the run that it
// predicts, so its error comes from the model: heartbeats, task starts and their order. The
// forecast knows only the task times of the run under the first policy. It answers how
// another policy would have scheduled the same jobs.
//
//	cluster under policy P ─► history of P ─► simulate P ─► replay error of P
//	cluster under policy Q ─► history of Q ─► simulate Q ─► replay error of Q
//	                          history of P ─► simulate Q ─► forecast error of Q
//
// The error of a job is (predicted − real) / real of its sojourn time. A control with jobs
// that compute shows how much of the error is due to slots that share cores, which the
// simulator does not model. plan names the plan to run, sleeping or busy; "" is both. N is the size
// of the text of the second, in MiB.
func (b Bench) Calibrate(ctx context.Context, plan string, policies []string) (tables.Results, error) {
	text := filepath.Join(b.Work, "text")
	if err := os.WriteFile(text, data.Text(b.N<<20, 100_003), 0o666); err != nil {
		return tables.Results{}, err
	}
	plans := slices.DeleteFunc([]Plan{sleepingCalibration(), busyCalibration(text)}, func(p Plan) bool { return plan != "" && plan != p.Name })
	predicted, err := b.predict(ctx, plans, policies)
	return calibrationResults(predicted), err
}

// The cluster is small enough for one machine, and large enough that jobs compete for slots.
const (
	calibrationNodes   = 3
	calibrationMaps    = 2 // slots of a tasknode
	calibrationReduces = 1
)

// Predicted is the sojourn time of a job under a policy, in ms: on the cluster, and predicted
// from the same run and from the run of the first policy.
type Predicted struct {
	Plan, Policy, Job      string
	Real, Replay, Forecast int64
}

// predict runs the plans, each under every policy on a cluster of its own.
func (b Bench) predict(ctx context.Context, plans []Plan, policies []string) (all []Predicted, err error) {
	for _, plan := range plans {
		var first *workload.Workload
		for _, policy := range policies {
			b.Logf("%s under %s: %d jobs on %d tasknodes", plan.Name, policy, len(plan.Jobs), calibrationNodes)
			w, err := b.playPlan(ctx, plan, policy)
			if err != nil {
				return all, fmt.Errorf("%s under %s: %w", plan.Name, policy, err)
			}
			if first == nil {
				first = w
			}
			replay, err := calibrationOf(ctx, w, policy)
			if err != nil {
				return all, err
			}
			forecast, err := calibrationOf(ctx, first, policy)
			if err != nil {
				return all, err
			}
			for i := range w.Jobs {
				all = append(all, Predicted{plan.Name, policy, w.Jobs[i].Name, w.Jobs[i].Recorded, replay.Jobs[i].Sojourn(), forecast.Jobs[i].Sojourn()})
			}
		}
	}
	return all, nil
}

// playPlan runs a plan on a cluster, and returns its history, with the jobs in the order of the plan. Outputs go to
// the directory of the cluster, so that plans can run again.
func (b Bench) playPlan(ctx context.Context, plan Plan, policy string) (w *workload.Workload, err error) {
	dir := filepath.Join(b.Work, plan.Name, policy)
	cluster, err := Start(ctx, Config{
		Hammr: b.Hammr, Dir: dir, Policy: policy, Conf: calibrationConf(policy),
		Tasknodes: calibrationNodes, MapSlots: calibrationMaps, ReduceSlots: calibrationReduces,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	plan.Jobs = slices.Clone(plan.Jobs)
	for i, j := range plan.Jobs {
		if j.Out != "" {
			plan.Jobs[i].Out = filepath.Join(dir, "output", j.Out)
		}
	}
	if _, err := cluster.Run(ctx, plan, ""); err != nil {
		return nil, err
	}
	return workload.ReadFile(cluster.Histories(), workload.Options{Format: workload.HistoryLogs})
}

// calibrationConf returns a policy's settings, the same for the cluster and the simulator. They
// switch preemption off, because another benchmark measures its costs.
func calibrationConf(policy string) map[string]string {
	if policy == "hfsp" {
		return map[string]string{"mapred.hfsp-scheduler.preemption-strategy": "wait"}
	}
	return nil
}

// calibrationOf plays a workload under a policy on a cluster like the real one.
func calibrationOf(ctx context.Context, w *workload.Workload, policy string) (*sim.Result, error) {
	p, err := registry.New(policy, calibrationConf(policy), sched.Setup{
		Placement: sched.DefaultPlacement(), Preempt: preempt.Config{Map: preempt.Wait, Reduce: preempt.Wait},
	})
	if err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, sim.Config{Policy: p, Machines: calibrationNodes, MapSlots: calibrationMaps, ReduceSlots: calibrationReduces}, w)
	if err != nil {
		return nil, fmt.Errorf("policy %s in sim: %w", policy, err)
	}
	return r, nil
}

// calibrationResults has a line for each job and policy, and a summary for each policy.
func calibrationResults(all []Predicted) tables.Results {
	seconds := func(ms int64) float64 { return float64(ms) / 1000 }
	r := tables.Results{
		Samples: tables.New("plan", "policy", "job", "real_s|%.3f", "replay_s|%.3f", "forecast_s|%.3f", "replay_error|%.4f", "forecast_error|%.4f"),
		Summary: tables.New("PLAN|%s", "POLICY", "JOBS|%d", "REAL MEAN|%.2f s", "REPLAY MEAN|%.2f s", "ERROR|%.1f %%", "WORST|%.1f %%",
			"FORECAST MEAN|%.2f s", "ERROR|%.1f %%", "WORST|%.1f %%"),
	}
	for _, p := range all {
		r.Samples.Add(p.Plan, p.Policy, p.Job, seconds(p.Real), seconds(p.Replay), seconds(p.Forecast), p.errorOf(p.Replay), p.errorOf(p.Forecast))
	}
	for of, jobs := range tables.Groups(all, func(p Predicted) [2]string { return [2]string{p.Plan, p.Policy} }) {
		var real, replay, forecast, replayErrors, forecastErrors []float64
		for _, p := range jobs {
			real, replay, forecast = append(real, seconds(p.Real)), append(replay, seconds(p.Replay)), append(forecast, seconds(p.Forecast))
			replayErrors = append(replayErrors, 100*math.Abs(p.errorOf(p.Replay)))
			forecastErrors = append(forecastErrors, 100*math.Abs(p.errorOf(p.Forecast)))
		}
		r.Summary.Add(of[0], of[1], len(jobs), paper.Mean(real), paper.Mean(replay), paper.Mean(replayErrors), slices.Max(replayErrors),
			paper.Mean(forecast), paper.Mean(forecastErrors), slices.Max(forecastErrors))
	}
	return r
}

// errorOf returns the error of a prediction, as a part of the real time.
func (p Predicted) errorOf(predicted int64) float64 {
	return float64(predicted-p.Real) / float64(max(p.Real, 1))
}

// jobShape is a job of tasks that sleep.
type jobShape struct {
	at, mapMillis, reduceMillis int64
	maps, reduces               int
}

// calibrationJobs is a mixed workload for six map slots and three reduce slots: long jobs come first and occupy
// all slots, so policies differ in the job that they serve next. Its tasks sleep for each record, so that jobs
// compete for slots and not for the cores of this machine.
var calibrationJobs = []jobShape{
	{at: 0, maps: 36, mapMillis: 3000, reduces: 3, reduceMillis: 4000},
	{at: 2, maps: 2, mapMillis: 1500, reduces: 1, reduceMillis: 1000},
	{at: 4, maps: 12, mapMillis: 2000, reduces: 2, reduceMillis: 2000},
	{at: 7, maps: 1, mapMillis: 2500},
	{at: 9, maps: 24, mapMillis: 1500, reduces: 3, reduceMillis: 1500},
	{at: 12, maps: 3, mapMillis: 1000, reduces: 1, reduceMillis: 1500},
	{at: 15, maps: 6, mapMillis: 4000, reduces: 1, reduceMillis: 3000},
	{at: 18, maps: 1, mapMillis: 1000},
	{at: 22, maps: 10, mapMillis: 1500, reduces: 2, reduceMillis: 1000},
	{at: 26, maps: 2, mapMillis: 3000},
}

// sleepingCalibration returns the plan of jobs whose tasks sleep.
func sleepingCalibration() Plan {
	w := workload.Workload{Name: "sleeping"}
	for i, s := range calibrationJobs {
		j := evenJob(fmt.Sprintf("sleep%02d", i), s.maps, s.mapMillis, s.reduces, s.reduceMillis)
		j.Submit = s.at * 1000
		w.Jobs = append(w.Jobs, j)
	}
	return SleepingPlan(&w, 1)
}

// busyCalibration returns the control: jobs that count the words of a text. The cores of this
// machine, which all slots share, bound their speed. Each job writes to a directory with the
// job's name.
func busyCalibration(text string) Plan {
	const splitBytes = 16 << 20
	p := Plan{Name: "busy"}
	for i, at := range []int{0, 1, 3, 6} {
		name := fmt.Sprintf("count%02d", i)
		p.Jobs = append(p.Jobs, Job{
			Name: name, At: time.Duration(at) * time.Second,
			Args: []string{
				"wordcount", "-D", "mapreduce.job.name=" + name, "-D", "mapreduce.job.reduces=2",
				"-D", "mapreduce.input.fileinputformat.split.maxsize=" + strconv.Itoa(splitBytes>>(i%2)), text,
			},
			Out: name,
		})
	}
	return p
}
