package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// simRun holds the flags of `hammr sim run`. prepare sets first and made, because it makes
// the workload and the policies to check them.
type simRun struct {
	simCluster
	// Where the jobs come from.
	source simWorkload
	out    string
	runs   int
	// Whether to write tasks.csv, and decisions.jsonl of the first run: both are large.
	tasks     bool
	decisions bool

	first *workload.Workload // of the first run
	made  []sched.Policy     // for the first run
	log   results.DecisionLog
}

// newSimRun writes a directory that is complete or does not exist: it has another name until
// all is written.
func newSimRun() *cobra.Command {
	var s simRun
	cmd := &cobra.Command{
		Use:   "run --workload FILE --policy NAME[,NAME…] --nodes N --out DIR",
		Short: "Simulate a workload under one or more policies",
		Long: `Simulate a workload on a modelled cluster, under one policy after the other. The
masters are not modelled: the same code decides here and in a jobmaster. The
same flags always write the same bytes. docs/sim.md describes the model.

FILE is a CSV of jobs, a SWIM trace, a Rumen trace, a history of jobs or a
directory of histories; --format names the format if the content does not show
it. spec:… draws a workload from distributions, such as
  spec:jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3

DIR must not exist. The command writes there
  jobs.csv         a line for each job and policy
  sojourn.svg      the distribution of sojourn times
  slots.svg        which job has which slots over time
  tasks.csv        a line for each attempt, with --tasks
  decisions.jsonl  offers of slots and why some were declined, with --decisions
With --runs the tables are in run-001, run-002 and so on.`,
		Example: `  hammr sim run --workload jobs.csv --policy fair,hfsp --nodes 100 --out both
  hammr sim run --workload spec:fb2009 --nodes 9 --fail n0003@10m --out lost
  hammr sim run --swim FB-2009.tsv --nodes 100 --map-time 30s --out day
  hammr sim run --workload spec:fb2009 --policy hfsp --nodes 99 --runs 9 --out x`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	s.addFlags(cmd)
	s.source.addFlags(cmd)
	flags := cmd.Flags()
	flags.IntVar(&s.runs, "runs", 1, "`number` of runs; their seeds are --seed and those that follow it")
	flags.BoolVar(&s.decisions, "decisions", false, "write decisions.jsonl, the scheduling decisions of the first run")
	flags.BoolVar(&s.tasks, "tasks", false, "write tasks.csv, a line for each attempt")
	flags.StringVar(&s.out, "out", "", "`directory` to write, which must not exist")
	required(cmd, "nodes", "out")
	return cmd
}

// run checks everything, makes sure that the directory can be made, and only then simulates.
func (s *simRun) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := s.prepare(); err != nil {
		return usageError{err}
	}
	if err := results.CheckWritable(s.out); err != nil {
		return err
	}
	s.warn(stderr)
	line := newStatusLine(stderr, s.quiet)
	repetitions, err := s.repeat(ctx, line)
	line.clear()
	if err != nil {
		return err
	}
	report := results.Report{Workload: s.first, Cluster: s.cfg, Repetitions: repetitions}
	if err := s.save(&report); err != nil {
		return err
	}
	return report.WriteSummary(stdout)
}

// prepare returns only errors of the flags and the workload, which are the user's mistakes.
// Its results are used for the first run.
func (s *simRun) prepare() (err error) {
	if err := results.CheckNew(s.out); err != nil {
		return err
	}
	if s.runs < 1 || s.runs > 10_000 {
		return fmt.Errorf("--runs %d: expected 1 to 10000", s.runs)
	}
	if err := errors.Join(s.configure(), s.source.check()); err != nil {
		return err
	}
	if s.first, err = s.source.load(s.cfg.Machines, s.cfg.Seed); err != nil {
		return err
	}
	if err := s.checkWorkload(s.first); err != nil {
		return err
	}
	s.made, err = s.makePolicies(s.first, s.cfg.Seed)
	return err
}

// save writes the directory of results, complete or not at all: it is staged under another
// name, and discarded unless it is committed.
func (s *simRun) save(report *results.Report) error {
	dir, err := results.Stage(s.out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	if err := report.Write(dir, s.tasks); err != nil {
		return err
	}
	if s.decisions {
		if err := dir.WriteFile("decisions.jsonl", s.log.Write); err != nil {
			return err
		}
	}
	return dir.Commit()
}

// repeat runs every seed under every policy. prepare has made workload and policies of the
// first seed. The others need their own: a spec draws another workload, and policies keep
// state.
func (s *simRun) repeat(ctx context.Context, line *statusLine) (repetitions []results.Repetition, err error) {
	w, policies := s.first, s.made
	for n := range s.runs {
		seed := s.cfg.Seed + uint64(n)
		// prepare has made the workload and policies of the first seed.
		if n > 0 {
			if w, err = s.source.load(s.cfg.Machines, seed); err != nil {
				return nil, err
			}
			if policies, err = s.makePolicies(w, seed); err != nil {
				return nil, err
			}
		}
		runs, err := s.runSeed(ctx, w, policies, seed, n == 0, line)
		if err != nil {
			return nil, err
		}
		repetitions = append(repetitions, results.Repetition{Seed: seed, Runs: runs})
	}
	return repetitions, nil
}

// runSeed runs one seed under every policy. Only the report of the first seed has pictures
// of slots and decisions, so only its runs record them. Failures are cloned, so that no run
// sees changes of another.
func (s *simRun) runSeed(
	ctx context.Context, w *workload.Workload, policies []sched.Policy, seed uint64, first bool, line *statusLine,
) (runs []results.PolicyRun, err error) {
	for i, name := range s.policies {
		cfg := s.cfg
		cfg.Policy, cfg.Seed, cfg.Failures = policies[i], seed, slices.Clone(s.cfg.Failures)
		cfg.Tasks, cfg.Series = s.tasks || first && results.DrawsEachSlot(s.cfg, s.first), first
		title := name
		if s.runs > 1 {
			title = fmt.Sprintf("%s, seed %d", name, seed)
		}
		if first && s.decisions {
			s.log.Record(&cfg, name)
		}
		cfg.OnProgress = line.onProgress(title, len(w.Jobs))
		r, err := sim.Run(ctx, cfg, w)
		if err == nil {
			err = context.Cause(ctx) // a short run does not check ctx
		}
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", title, err)
		}
		runs = append(runs, results.PolicyRun{Policy: name, Result: r})
	}
	return runs, nil
}
