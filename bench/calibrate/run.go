package calibrate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hammr/hammr/sim/workload"
)

// Config is the real cluster, and what runs on it.
type Config struct {
	Hammr    string // file of the hammr program
	Work     string // directory for clusters, which is made; each is removed again
	Plan     Plan
	Policies []string // in the order in which they run; the forecasts rest on the first

	Nodes, MapSlots, ReduceSlots int
}

// Outcome is what became of a job under a policy.
type Outcome struct {
	Policy, Job    string
	Real           time.Duration // sojourn time on the cluster
	Replay         time.Duration // predicted from this very run
	Forecast       time.Duration // predicted from the run of the first policy
	Submitted, End time.Time
}

// Run runs the plan under each policy and predicts each run.
func Run(ctx context.Context, cfg Config, tell func(format string, args ...any)) (outcomes []Outcome, err error) {
	if len(cfg.Policies) == 0 || len(cfg.Plan.Jobs) == 0 {
		return nil, errors.New("calibrate: no policy or no job")
	}
	var first *workload.Workload
	for _, policy := range cfg.Policies {
		tell("%s under %s: %d jobs on %d tasknodes", cfg.Plan.Name, policy, len(cfg.Plan.Jobs), cfg.Nodes)
		w, real, err := observe(ctx, cfg, policy)
		if err != nil {
			return nil, fmt.Errorf("calibrate: %s under %s: %w", cfg.Plan.Name, policy, err)
		}
		if first == nil {
			first = w
		}
		if outcomes, err = appendOutcomes(ctx, cfg, policy, outcomes, real, w, first); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// observe runs the plan on a cluster and returns its history and how long each
// job was there.
func observe(ctx context.Context, cfg Config, policy string) (w *workload.Workload, real []Outcome, err error) {
	c, err := start(ctx, cfg, filepath.Join(cfg.Work, policy), policy)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.stop(ctx)) }()
	histories, err := c.run(ctx, cfg.Plan)
	if err != nil {
		return nil, nil, err
	}
	if real, err = readSojourns(histories, policy); err != nil {
		return nil, nil, err
	}
	w, err = workload.ReadFile(histories, workload.Options{Format: workload.HistoryLogs})
	return w, real, err
}

// appendOutcomes adds predictions to what was observed.
func appendOutcomes(ctx context.Context, cfg Config, policy string, to, real []Outcome, w, first *workload.Workload) ([]Outcome, error) {
	replay, err := predict(ctx, cfg, w, policy)
	if err != nil {
		return nil, err
	}
	forecast, err := predict(ctx, cfg, first, policy)
	if err != nil {
		return nil, err
	}
	for _, o := range real {
		o.Replay, o.Forecast = replay[o.Job], forecast[o.Job]
		to = append(to, o)
	}
	return to, nil
}

// readSojourns reads how long the jobs of a directory of histories were there.
func readSojourns(dir, policy string) (outcomes []Outcome, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range files { // Glob sorts them, and ids rise
		o, err := readSojourn(name)
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", name, err)
		}
		o.Policy = policy
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// readSojourn reads the first line of a history.
func readSojourn(name string) (o Outcome, err error) {
	f, err := os.Open(name)
	if err != nil {
		return o, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return o, err
	}
	var head struct {
		Job struct{ Name, State, SubmitTime, FinishTime string }
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return o, err
	}
	if head.Job.State != "SUCCEEDED" {
		return o, fmt.Errorf("job %s is %s", head.Job.Name, head.Job.State)
	}
	o.Job = head.Job.Name
	submitted, err := strconv.ParseInt(head.Job.SubmitTime, 10, 64)
	finished, err2 := strconv.ParseInt(head.Job.FinishTime, 10, 64)
	o.Submitted, o.End = time.UnixMilli(submitted), time.UnixMilli(finished)
	o.Real = o.End.Sub(o.Submitted)
	return o, errors.Join(err, err2)
}
