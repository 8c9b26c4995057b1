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

// Options configure the runs of experiments. The zero value runs the paper's own numbers of
// repetitions at full size.
type Options struct {
	Runs int    // repetitions; 0 for the paper's number
	Seed uint64 // of the first repetition; the next ones follow. 0 is 1

	// Short is a form for automatic checks: fewer repetitions, smaller clusters and fewer
	// jobs. The paper's claims hold there too, but its numbers do not.
	Short bool

	// WorkloadDir has the traces, which only hfsp reads. If it is "", hfsp uses workload
	// presets.
	WorkloadDir string

	// Skip returns the reason to skip an experiment, "" to run it; nil skips none.
	Skip func(*Experiment) (why string)
	// ReadsBlocks reports whether an experiment's jobs read blocks on the real cluster; nil
	// is never. Without blocks, measures of locality are left out.
	ReadsBlocks func(*Experiment) bool
	// Controls adds experiments that are useful only with a real cluster.
	Controls bool
	// Workers is the number of trials that run at once; 0 stands for the number of
	// processors.
	Workers int

	Progress func(done, all int) // its calls do not overlap; may be nil
}

// shortRuns is the default number of repetitions of the short form.
const shortRuns = 2

// Paper is one of the five papers. Intro, Reruns and the texts of the experiments go into
// report.md as they are.
type Paper struct {
	Name   string // in commands
	Title  string
	Runs   int    // default repetitions
	Intro  string // paragraphs of Markdown on the set-up of all experiments
	Reruns string // on the paper's own repetitions

	Plan func(Options) ([]Experiment, error)
}

// Papers returns all five papers.
func Papers() []Paper { return []Paper{HFSP, Fair, Hammr, Chronos, Disco} }

// Names returns the papers' names.
func Names() (names []string) {
	for _, p := range Papers() {
		names = append(names, p.Name)
	}
	return names
}

// Find finds a paper by its name. The error lists all names.
func Find(name string) (Paper, error) {
	for _, p := range Papers() {
		if p.Name == name {
			return p, nil
		}
	}
	return Paper{}, fmt.Errorf("paper %q: not one of %s", name, strings.Join(Names(), ", "))
}

// Run runs all experiments of a paper. It fails for an unknown name, for a workload that
// cannot be read, if a trial fails, and if ctx ends.
//
// All trials of all experiments are one list, so that the last slow trial of an experiment
// does not leave processors idle. The first error ends the run.
func Run(ctx context.Context, name string, o Options, on Runner) (*Report, error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	r, err := p.run(ctx, o, on)
	if err != nil {
		return nil, fmt.Errorf("paper %s: %w", name, err)
	}
	return r, nil
}

func (p Paper) run(ctx context.Context, o Options, on Runner) (*Report, error) {
	o.ensureDefaults(p)
	plan, err := p.Plan(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Paper: p, Options: o}
	plan = r.skipExperiments(plan)
	var trials []Trial
	for i := range plan {
		trials = append(trials, plan[i].trials(o)...)
	}
	outcomes, err := runAll(ctx, trials, &skipRecorder{Runner: on, report: r}, cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), o.Progress)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		// The outcomes of an experiment are a part of the list, in the same order.
		own := plan[i].trials(o)
		r.Sections = append(r.Sections, sectionOf(&plan[i], own, outcomes[:len(own)]))
		outcomes = outcomes[len(own):]
	}
	return r, nil
}

// ensureDefaults replaces zero fields by their defaults. Seeds count from Seed: repetition n
// has Seed+n.
func (o *Options) ensureDefaults(p Paper) {
	o.Seed = cmp.Or(o.Seed, 1)
	if o.Runs <= 0 {
		o.Runs = p.Runs
		if o.Short {
			o.Runs = shortRuns
		}
	}
}

// runAll runs at most atOnce trials at the same time. It returns the error of the first
// trial that fails, and does not start the rest.
func runAll(ctx context.Context, trials []Trial, on Runner, atOnce int, progress func(done, all int)) ([]*Outcome, error) {
	outcomes := make([]*Outcome, len(trials))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	var mu sync.Mutex // guards done and serializes progress
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
