package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// trialPatience is how long a trial may take.
const trialPatience = 10 * time.Minute

// Runner runs trials of a paper on clusters of this machine, one for each. It is a
// paper.Runner; run one trial at a time. What came of a trial is kept, and found
// again by the next Runner of the same version with the same Keep. It is to be closed.
type Runner struct {
	Paper string
	Hammr string // file of the hammr program
	Work  string // directory for clusters; each is removed again
	Keep  string // directory for what came of trials, and for histories and logs
	Tell  func(format string, args ...any)

	ground ground  // of trials whose jobs read
	pace   float64 // bytes a second of one map that computes; 0 before it is measured
}

// Close ends the HDFS that trials have read, and the network of its machines, if there
// were any.
func (r *Runner) Close() error { return r.ground.close() }

// Modelled runs the same trials in the simulator: with as many tasks and slots, all
// tasks of a phase alike. It is a paper.Runner.
type Modelled struct{ Paper string }

// Run implements paper.Runner.
func (m Modelled) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	s, err := scaleOfTrial(m.Paper, t)
	if err != nil {
		return nil, err
	}
	return paper.Simulator{}.Run(ctx, s.shrunk(t))
}

func scaleOfTrial(name string, t paper.Trial) (Scale, error) {
	s, whyNot := ScaleOf(name, &paper.Experiment{ID: t.Experiment, Workload: t.Workload})
	if whyNot != "" {
		return s, fmt.Errorf("experiment %s of %s on a real cluster: %s", t.Experiment, name, whyNot)
	}
	return s, nil
}

// kept is a trial that was run.
type kept struct {
	Trial   string         // which
	Scale   string         // and how
	Version string         // of hammr
	Outcome *paper.Outcome // in the paper's time
}

// Run implements paper.Runner.
func (r *Runner) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	s, err := scaleOfTrial(r.Paper, t)
	if err != nil {
		return nil, err
	}
	keep := filepath.Join(r.Keep, fileName(t.String()))
	file, made := keep+".json", kept{Trial: t.String(), Scale: s.mark(), Version: version()}
	if o, err := find(file, made); o != nil || err != nil {
		return o, err
	}
	if ctx.Err() != nil { // another trial has failed, or it is enough
		return nil, context.Cause(ctx)
	}
	r.Tell("%v, %g times as fast", t, s.Fast)
	environment := EnvironmentOf(r.Work, s.settings(t))
	made.Outcome, err = r.play(ctx, t, s, keep)
	if err == nil {
		err = environment.Write(keep)
	}
	if err != nil {
		return nil, err
	}
	return made.Outcome, save(file, made)
}

// find is what came of a trial that was run before, with the same scale and by the same
// version; nil when none was.
func find(file string, wanted kept) (*paper.Outcome, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("trial %s: %w; remove the file to run it again", file, err)
	}
	outcome := k.Outcome
	if k.Outcome = nil; k != wanted {
		return nil, nil
	}
	return outcome, nil
}

// save writes by rename: a trial that is kept is whole.
func save(file string, k kept) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", data, 0o666); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// play runs a trial on a cluster of its own, or has Hadoop's MapReduce run it, and keeps
// histories and logs.
func (r *Runner) play(ctx context.Context, t paper.Trial, s Scale, keep string) (o *paper.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	t = s.shrunk(t)
	w, err := t.Workload(t.Seed)
	if err != nil {
		return nil, err
	}
	r.ground.hammr = r.Hammr
	if s.Input {
		if err := r.ground.prepare(ctx, filepath.Join(r.Work, "hdfs"), t.Cluster, s); err != nil {
			return nil, err
		}
	}
	if s.Hadoop != "" && t.Arm == s.Hadoop {
		return hadoop{&r.ground, r.Work, keep, s, t}.run(ctx, w)
	}
	c, err := Start(ctx, r.configOf(t, s))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	plan, err := r.planOf(ctx, c, t, s, w)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, plan)
	if err == nil {
		err = errors.Join(run.Failed(), c.Keep(run, keep), r.ground.mend(ctx, run.Lost))
	}
	if err != nil {
		return nil, err
	}
	if len(run.Lost) != len(plan.Failures) {
		return nil, fmt.Errorf("%d machines of %d failed before all jobs were over", len(run.Lost), len(plan.Failures))
	}
	return run.Result(Shape{Workload: w, Cluster: t.Cluster, Fast: s.Fast}), nil
}

// configOf is the cluster of a trial.
func (r *Runner) configOf(t paper.Trial, s Scale) Config {
	conf := s.settings(t)
	cfg := Config{
		Hammr: r.Hammr, Dir: filepath.Join(r.Work, "cluster"), Nodes: t.Cluster.Nodes,
		MapSlots: t.Cluster.MapSlots, ReduceSlots: t.Cluster.ReduceSlots, Policy: t.Policy, Conf: conf, Pools: poolsOf(conf),
		Expiry: s.wall(t.Cluster.Expiry),
	}
	if s.Input {
		cfg.HDFS, cfg.links = r.ground.hdfs, r.ground.links
	}
	return cfg
}

// planOf is what the jobs of a trial do.
func (r *Runner) planOf(ctx context.Context, c *Cluster, t paper.Trial, s Scale, w *workload.Workload) (p Plan, err error) {
	switch {
	case s.Input:
		p, err = r.ground.plan(ctx, t, w, s)
	case s.Busy:
		p, err = r.computing(ctx, c, w, s.Fast)
	default:
		p = Sleeping(w, s.Fast)
	}
	p.Until, p.Failures = s.Until, s.failures(t.Cluster.Failures)
	return p, err
}

func (s Scale) failures(list []sim.Failure) (out []Failure) {
	for _, f := range list {
		out = append(out, Failure{Node: f.Node, At: s.wall(f.At), Job: f.Job, Phase: f.Phase, Percent: f.Percent})
	}
	return out
}
