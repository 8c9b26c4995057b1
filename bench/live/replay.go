package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// Replay is a workload to run at its own times.
type Replay struct {
	Config                     // of the cluster to start; Policy, and the slots that slowdown is computed from, also apply to one that runs
	Attach  string             // directory of a running cluster; "" to start one
	Load    *workload.Workload // the workload
	Speedup float64            // divides times of arrivals and tasks; 0 is 1
	Data    string             // directory for generated input, which jobs sort; "" for jobs that sleep
	Keep    string             // directory for histories and logs, which Run creates; "" for none
}

// Run runs the workload and returns its outcome, in the time of the workload, and its
// policy. It fails if a job does.
func (r Replay) Run(ctx context.Context) (played results.PolicyRun, err error) {
	r.Speedup = cmp.Or(r.Speedup, 1)
	c, err := r.open(ctx)
	if err != nil {
		return played, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	plan := SleepingPlan(r.Load, r.Speedup)
	if r.Data != "" {
		if plan, err = sortingPlan(ctx, c, r.Load, r.Speedup, r.Data); err != nil {
			return played, fmt.Errorf("generated input: %w", err)
		}
	}
	if played.Policy, err = c.Policy(ctx); err != nil {
		return played, err
	}
	run, err := c.Run(ctx, plan)
	if err == nil {
		err = run.Failed()
	}
	if err == nil && r.Keep != "" {
		err = c.Keep(run, r.Keep)
	}
	if err != nil {
		return played, err
	}
	shape := Shape{Workload: r.Load, Speedup: r.Speedup, Cluster: sim.Config{Machines: r.Nodes, MapSlots: r.MapSlots, ReduceSlots: r.ReduceSlots}}
	played.Result = run.Result(shape)
	return played, nil
}

// open starts a cluster, or finds the running one.
func (r *Replay) open(ctx context.Context) (*Cluster, error) {
	if r.Attach == "" {
		return Start(ctx, r.Config)
	}
	c, err := Attach(r.Hammr, r.Attach)
	if err == nil && r.Policy != "" {
		err = c.SetPolicy(ctx, r.Policy, r.Conf)
	}
	return c, err
}

const rowBytes = 100 // of the generated input

// sortingPlan generates the input of all jobs, a file for each map, and plans jobs that sort
// it, so that they shuffle their input.
func sortingPlan(ctx context.Context, c *Cluster, w *workload.Workload, fast float64, dir string) (Plan, error) {
	generate, p := Plan{Name: "input"}, Plan{Name: w.Name, About: "jobs that sort generated input"}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		rows := max(workload.Sum(j.Maps).Bytes/rowBytes, int64(len(j.Maps)))
		input := filepath.Join(dir, "input", fileName(j.ID))
		generate.Jobs = append(generate.Jobs, Job{
			Name: j.ID, Out: input,
			Args: []string{"teragen", "-D", fmt.Sprint("mapreduce.job.maps=", len(j.Maps)), fmt.Sprint(rows)},
		})
		sleeping := sleepingJob(j, fast)
		p.Jobs = append(p.Jobs, Job{
			Name: j.ID, At: sleeping.At, Out: filepath.Join(dir, "output", fileName(j.ID)),
			Args: []string{
				"terasort", "-D", "mapreduce.job.name=" + j.ID, "-D", fmt.Sprint("mapreduce.job.reduces=", max(len(j.Reduces), 1)),
				"-D", "hammr.input.combine=false", input,
			},
		})
	}
	made, err := c.Run(ctx, generate)
	if err != nil {
		return p, err
	}
	return p, made.Failed()
}

// fileName makes a valid file name of a text.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, text)
}
