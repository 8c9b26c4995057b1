package calibrate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim/workload"
)

// Config describes the cluster and its workload.
//
// Each policy has a cluster of its own, one after the other, with the same plan.
type Config struct {
	Hammr    string // file of the hammr program
	Work     string // directory for the clusters; each is removed when it ends
	Plan     live.Plan
	Policies []string // in the order of their runs; forecasts use the first

	Tasknodes, MapSlots, ReduceSlots int
}

// Outcome is the result of a job under a policy.
type Outcome struct {
	Policy, Job    string
	Real           time.Duration // sojourn time on the cluster
	Replay         time.Duration // predicted from the same run
	Forecast       time.Duration // predicted from the run of the first policy
	Submitted, End time.Time
}

// Run runs the plan under each policy and predicts each run.
//
//	plan ─► cluster under policy P ─► histories ─┬─► simulate P          = replay of P
//	                                             └─ first policy only ─► simulate each P = forecast
func Run(ctx context.Context, cfg Config, logf func(format string, args ...any)) (outcomes []Outcome, err error) {
	if len(cfg.Policies) == 0 || len(cfg.Plan.Jobs) == 0 {
		return nil, errors.New("calibrate: no policy or no job")
	}
	var first *workload.Workload
	for _, policy := range cfg.Policies {
		logf("%s under %s: %d jobs on %d tasknodes", cfg.Plan.Name, policy, len(cfg.Plan.Jobs), cfg.Tasknodes)
		w, observed, err := runOnCluster(ctx, cfg, policy)
		if err != nil {
			return nil, fmt.Errorf("calibrate: %s under %s: %w", cfg.Plan.Name, policy, err)
		}
		if first == nil {
			first = w
		}
		if outcomes, err = appendOutcomes(ctx, cfg, policy, outcomes, observed, w, first); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// runOnCluster runs the plan on a cluster, and returns its history and the sojourn times of
// its jobs. Outputs go to a directory of the policy, so that plans can run again.
func runOnCluster(ctx context.Context, cfg Config, policy string) (w *workload.Workload, outcomes []Outcome, err error) {
	c, err := live.Start(ctx, live.Config{
		Hammr: cfg.Hammr, Dir: filepath.Join(cfg.Work, policy), Policy: policy, Conf: settingsOf(policy),
		Tasknodes: cfg.Tasknodes, MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots,
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	plan := cfg.Plan
	plan.Jobs = slices.Clone(plan.Jobs)
	for i, j := range plan.Jobs {
		if j.Out != "" {
			plan.Jobs[i].Out = filepath.Join(cfg.Work, policy, "output", j.Out)
		}
	}
	r, err := c.Run(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	if outcomes, err = sojourns(r, policy); err != nil {
		return nil, nil, err
	}
	w, err = workload.ReadFile(c.Histories(), workload.Options{Format: workload.HistoryLogs})
	return w, outcomes, err
}

// appendOutcomes adds the predictions to the measured outcomes. Outcomes are in the order
// of the plan's jobs.
func appendOutcomes(ctx context.Context, cfg Config, policy string, to, observed []Outcome, w, first *workload.Workload) ([]Outcome, error) {
	replay, err := simulate(ctx, cfg, w, policy)
	if err != nil {
		return nil, err
	}
	forecast, err := simulate(ctx, cfg, first, policy)
	if err != nil {
		return nil, err
	}
	for _, o := range observed {
		o.Replay, o.Forecast = replay[o.Job], forecast[o.Job]
		to = append(to, o)
	}
	return to, nil
}

// sojourns returns the sojourn times of a run's jobs. It fails if a job has failed.
func sojourns(r *live.Run, policy string) (outcomes []Outcome, err error) {
	for _, j := range r.Jobs {
		if j.State != wire.JobState_SUCCEEDED {
			return nil, fmt.Errorf("job %s (%s) is %v: %s", j.Name, j.JobId, j.State, j.Cause)
		}
		o := Outcome{Policy: policy, Job: j.Name, Submitted: time.UnixMilli(j.SubmitTime), End: time.UnixMilli(j.FinishTime)}
		o.Real = o.End.Sub(o.Submitted)
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}
