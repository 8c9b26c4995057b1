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
)

// trialPatience is how long a trial may take.
const trialPatience = 10 * time.Minute

// Runner runs trials of a paper on clusters of this machine, one for each. It is a
// paper.Runner; run one trial at a time. What came of a trial is kept, and found
// again by the next Runner with the same Keep.
type Runner struct {
	Paper string
	Hammr string // file of the hammr program
	Work  string // directory for clusters; each is removed again
	Keep  string // directory for what came of trials, and for histories and logs
	Tell  func(format string, args ...any)
}

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
	Outcome *paper.Outcome // in the paper's time
}

// Run implements paper.Runner.
func (r *Runner) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	s, err := scaleOfTrial(r.Paper, t)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.Keep, fileName(t.String())+".json")
	if o, err := find(file, t, s); o != nil || err != nil {
		return o, err
	}
	if ctx.Err() != nil { // another trial has failed, or it is enough
		return nil, context.Cause(ctx)
	}
	r.Tell("%v, %g times as fast", t, s.Fast)
	o, err := r.play(ctx, t, s)
	if err != nil {
		return nil, err
	}
	return o, save(file, kept{t.String(), s.mark(), o})
}

// find is what came of a trial that was run before with the same scale; nil when
// none was.
func find(file string, t paper.Trial, s Scale) (*paper.Outcome, error) {
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
	if k.Trial != t.String() || k.Scale != s.mark() {
		return nil, nil
	}
	return k.Outcome, nil
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

// play runs a trial on a cluster of its own.
func (r *Runner) play(ctx context.Context, t paper.Trial, s Scale) (o *paper.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	t = s.shrunk(t)
	w, err := t.Workload(t.Seed)
	if err != nil {
		return nil, err
	}
	conf := s.settings(t)
	c, err := Start(ctx, Config{
		Hammr: r.Hammr, Dir: filepath.Join(r.Work, "cluster"), Nodes: t.Cluster.Nodes,
		MapSlots: t.Cluster.MapSlots, ReduceSlots: t.Cluster.ReduceSlots, Policy: t.Policy, Conf: conf, Pools: poolsOf(conf),
		Expiry: s.wall(t.Cluster.Expiry),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	plan := Sleeping(w, s.Fast)
	plan.Until = s.Until
	plan.Failures = s.failures(t.Cluster.Failures)
	run, err := c.Run(ctx, plan)
	if err == nil {
		err = errors.Join(run.Failed(), c.Keep(run, filepath.Join(r.Keep, fileName(t.String()))))
	}
	if err != nil {
		return nil, err
	}
	if len(run.Lost) != len(plan.Failures) {
		return nil, fmt.Errorf("%d machines of %d failed before all jobs were over", len(run.Lost), len(plan.Failures))
	}
	return run.Result(Shape{Workload: w, Cluster: t.Cluster, Fast: s.Fast}), nil
}

func (s Scale) failures(list []sim.Failure) (out []Failure) {
	for _, f := range list {
		out = append(out, Failure{Node: f.Node, At: s.wall(f.At), Job: f.Job, Phase: f.Phase, Percent: f.Percent})
	}
	return out
}
