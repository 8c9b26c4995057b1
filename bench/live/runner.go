package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/sim/tables"
	"github.com/hammr/hammr/sim/workload"
)

// Bounds of a trial. On a Testbed it takes as long as in the paper, unless Testbed.Speed divides that.
const (
	trialPatience   = 10 * time.Minute
	testbedPatience = 24 * time.Hour
)

// Runner runs the trials of a paper on clusters of this machine or of a Testbed, one at a time. It
// is a paper.Runner. It saves each outcome; a later Runner of the same version with the same Keep
// finds it. The caller calls Close.
//
//	Run ─► saved outcome of this version and scale? ── yes ─► return it
//	          └ no ─► cluster (and HDFS) ─► plan ─► histories ─► Outcome ─► save
//
// Trials take minutes, so an interrupted report continues where it was.
type Runner struct {
	Selection *Selection // of the experiments, with their scales
	Hammr     string     // file of the hammr program
	Work      string     // directory for clusters, which are removed at their end
	Keep      string     // directory for outcomes, histories and logs
	Logf      func(format string, args ...any)

	input   hdfsInput // of trials whose jobs read
	mapRate float64   // bytes a second of a map that runs alone; 0 before it is measured
}

// Close ends the HDFS of the trials and the networks of its machines, if there were any.
func (r *Runner) Close() error { return r.input.close() }

// Simulated runs the same trials in the simulator, with as many tasks and slots and equal
// tasks in each phase. It is a paper.Runner. Its outcomes are shown next to those of Runner; a
// difference is an error of the simulator's model.
type Simulated struct{ Selection *Selection }

// Run implements paper.Runner.
func (m Simulated) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	s, err := m.Selection.scaleOfTrial(t)
	if err != nil {
		return nil, err
	}
	return paper.Simulator{}.Run(ctx, s.simulated(t))
}

// Forecast runs trials as Simulated does, and adds up how long they will take on the clock. It is
// a paper.Runner.
type Forecast struct {
	Selection *Selection

	mu struct {
		sync.Mutex
		experiments map[string]forecast
	}
}

// forecast is what an experiment takes.
type forecast struct {
	scale  Scale
	trials int
	took   time.Duration
}

// startTime is about what a cluster takes to start and to stop.
const startTime = 10 * time.Second

// Run implements paper.Runner.
func (f *Forecast) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	o, err := Simulated{f.Selection}.Run(ctx, t)
	if err != nil {
		return nil, err
	}
	s, err := f.Selection.scaleOfTrial(t)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.experiments == nil {
		f.mu.experiments = make(map[string]forecast)
	}
	e := f.mu.experiments[t.Experiment]
	f.mu.experiments[t.Experiment] = forecast{s, e.trials + 1, e.took + s.wallTime(o.End) + startTime}
	return o, nil
}

// Table returns a line for each experiment, by name.
func (f *Forecast) Table() *tables.Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := tables.New("EXPERIMENT|%s", "TRIALS|%d", "ABOUT|%v", "SCALE|%s")
	for _, id := range slices.Sorted(maps.Keys(f.mu.experiments)) {
		e := f.mu.experiments[id]
		t.Add(id, e.trials, e.took.Round(time.Minute), e.scale.short())
	}
	return t
}

// savedTrial is a trial that has run. All fields except Outcome must match for a saved
// trial to be used again.
type savedTrial struct {
	Trial   string         // the trial's name
	Scale   string         // its scale
	Version string         // of hammr
	Outcome *paper.Outcome // in the paper's time
}

// Run implements paper.Runner.
func (r *Runner) Run(ctx context.Context, t paper.Trial) (*paper.Outcome, error) {
	s, err := r.Selection.scaleOfTrial(t)
	if err != nil {
		return nil, err
	}
	keep := filepath.Join(r.Keep, fileName(t.String()))
	file, made := keep+".json", savedTrial{Trial: t.String(), Scale: s.key(), Version: version()}
	if o, err := loadTrial(file, made); o != nil || err != nil {
		return o, err
	}
	if ctx.Err() != nil { // another trial has failed, or the user has interrupted the run
		return nil, context.Cause(ctx)
	}
	r.Logf("%v, %g times as fast", t, s.Speedup)
	environment := EnvironmentOf(r.Work, s.settings(t))
	made.Outcome, err = r.runTrial(ctx, t, s, keep)
	if err == nil {
		err = environment.Write(keep)
	}
	if err != nil {
		return nil, err
	}
	return made.Outcome, jsonfile.Write(file, made, 0o666)
}

// loadTrial returns the outcome of an earlier run with the same scale and version; nil if
// there is none. An outcome of another version or scale is ignored and will be overwritten.
func loadTrial(file string, wanted savedTrial) (*paper.Outcome, error) {
	var k savedTrial
	err := jsonfile.Read(file, &k)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trial: %w; remove the file to run it again", err)
	}
	outcome := k.Outcome
	if k.Outcome = nil; k != wanted {
		return nil, nil
	}
	return outcome, nil
}

// runTrial runs a trial on a cluster of its own, or with Hadoop's MapReduce, and keeps
// histories and logs.
func (r *Runner) runTrial(ctx context.Context, t paper.Trial, s Scale, keep string) (o *paper.Outcome, err error) {
	bed, patience := r.Selection.Testbed, trialPatience
	if bed != nil {
		patience = testbedPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t = s.scaled(t)
	w, err := t.Workload(t.Seed)
	if err != nil {
		return nil, err
	}
	if s.Input && bed == nil {
		r.input.program.File = r.Hammr
		if err := r.input.prepare(ctx, filepath.Join(r.Work, "hdfs"), t.Cluster, s); err != nil {
			return nil, err
		}
	}
	if s.Hadoop != "" && t.Arm == s.Hadoop {
		return hadoop{&r.input, r.Work, keep, s, t}.run(ctx, w, r.configOf(t, s))
	}
	c, err := Start(ctx, r.configOf(t, s))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if bed != nil {
		r.input.attach(c)
	}
	plan, err := r.planOf(ctx, c, t, s, w)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, plan, keep)
	if err == nil {
		err = r.input.restartDataNodes(ctx, run.LostMachines)
	}
	if err != nil {
		return nil, err
	}
	return run.Result(Shape{Workload: w, Cluster: t.Cluster, Speedup: s.Speedup}), nil
}

// configOf returns the cluster of a trial. Expiry is in the time of the clock.
func (r *Runner) configOf(t paper.Trial, s Scale) Config {
	conf := s.settings(t)
	cfg := Config{
		Hammr: r.Hammr, Dir: filepath.Join(r.Work, "cluster"), Tasknodes: t.Cluster.Machines,
		MapSlots: t.Cluster.MapSlots, ReduceSlots: t.Cluster.ReduceSlots, Policy: t.Policy, Conf: conf, Pools: poolsOf(conf),
		Expiry: s.wallTime(t.Cluster.Expiry), Testbed: r.Selection.Testbed,
	}
	if s.Input {
		cfg.HDFS, cfg.links = r.input.hdfs, r.input.links
	}
	return cfg
}

// planOf returns the jobs and failures of a trial. Tasks read blocks, compute, or only sleep.
func (r *Runner) planOf(ctx context.Context, c *Cluster, t paper.Trial, s Scale, w *workload.Workload) (p Plan, err error) {
	switch {
	case s.Input:
		p, err = r.input.plan(ctx, t, w, s)
	case s.Busy:
		p, err = r.computePlan(ctx, c, w, s.Speedup)
	default:
		p = SleepingPlan(w, s.Speedup)
	}
	p.StopAfter, p.ReduceTimes = s.StopAfter, make(map[string]time.Duration)
	for i := range w.Jobs {
		p.ReduceTimes[w.Jobs[i].ID] = s.wallTime(int64(Mean(w.Jobs[i].Reduces)))
	}
	for _, f := range t.Cluster.Failures {
		f.At = s.wallTime(f.At).Milliseconds()
		p.Failures = append(p.Failures, f)
	}
	return p, err
}
