package paper

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Options are how experiments are run.
type Options struct {
	Runs int    // repetitions; 0 is the paper's number of them
	Seed uint64 // of the first repetition; the others' follow it. 0 is 1

	// Short is a form for automatic checks: fewer repetitions, smaller clusters
	// and fewer jobs. What is claimed holds there too; numbers are not the
	// paper's.
	Short bool

	// WorkloadDir has the traces. They are needed by hfsp only, which takes
	// workload presets in their place when it is "".
	WorkloadDir string

	// Skip says why an experiment is not run, "" for one that is; nil leaves none.
	Skip func(*Experiment) (why string)
	// ReadsBlocks says whether the jobs of an experiment read input on the real cluster;
	// nil is that none do. Measures of local tasks are left out where they do not.
	ReadsBlocks func(*Experiment) bool
	// Controls adds experiments that make sense beside a real cluster only.
	Controls bool
	// Workers is how many trials run at a time; 0 is as many as there are
	// processors.
	Workers int

	Progress func(done, all int) // is called by one goroutine after the other; may be nil
}

// shortRuns is how often the short form repeats an experiment by default.
const shortRuns = 2

// Paper is one of the five.
type Paper struct {
	Name   string // as the command calls it
	Title  string
	Runs   int    // repetitions by default
	Intro  string // how ours is set up and what holds for all experiments, paragraphs of Markdown
	Reruns string // how often the paper repeated its own

	Plan func(Options) ([]Experiment, error)
}

// Papers are all of them.
func Papers() []Paper { return []Paper{HFSP, Fair, Hammr, Chronos, Disco} }

// Names are those of the papers.
func Names() (names []string) {
	for _, p := range Papers() {
		names = append(names, p.Name)
	}
	return names
}

// Find is the paper of a name.
func Find(name string) (Paper, error) {
	for _, p := range Papers() {
		if p.Name == name {
			return p, nil
		}
	}
	return Paper{}, fmt.Errorf("paper %q: not one of %s", name, strings.Join(Names(), ", "))
}

// Run runs all experiments of a paper. It fails for a name that is none, for a
// workload that cannot be read, when a trial does, and when ctx ends.
func Run(ctx context.Context, name string, o Options, on Runner) (*Report, error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	o.ensureDefaults(p)
	plan, err := p.Plan(o)
	if err != nil {
		return nil, fmt.Errorf("paper %s: %w", name, err)
	}
	r := &Report{Paper: p, Options: o}
	plan = r.skipExperiments(plan)
	var trials []Trial
	for i := range plan {
		trials = append(trials, plan[i].trials(o)...)
	}
	outcomes, err := runAll(ctx, trials, &skipRecorder{Runner: on, report: r}, cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), o.Progress)
	if err != nil {
		return nil, fmt.Errorf("paper %s: %w", name, err)
	}
	for i := range plan {
		own := plan[i].trials(o)
		r.Sections = append(r.Sections, sectionOf(&plan[i], own, outcomes[:len(own)]))
		outcomes = outcomes[len(own):]
	}
	return r, nil
}

func (o *Options) ensureDefaults(p Paper) {
	o.Seed = cmp.Or(o.Seed, 1)
	if o.Runs <= 0 {
		o.Runs = p.Runs
		if o.Short {
			o.Runs = shortRuns
		}
	}
}

// RunAll runs as many trials at a time as there are processors. Outcomes are in
// the order of trials.
func RunAll(ctx context.Context, trials []Trial, on Runner, progress func(done, all int)) ([]*Outcome, error) {
	return runAll(ctx, trials, on, runtime.GOMAXPROCS(0), progress)
}

func runAll(ctx context.Context, trials []Trial, on Runner, atOnce int, progress func(done, all int)) ([]*Outcome, error) {
	outcomes := make([]*Outcome, len(trials))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	var mu sync.Mutex // guards done, and calls of progress
	done := 0
	for i, t := range trials {
		workers.Go(func() (err error) {
			if outcomes[i], err = on.Run(ctx, t); err != nil {
				return fmt.Errorf("%v: %w", t, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(trials))
			}
			return nil
		})
	}
	return outcomes, workers.Wait()
}
