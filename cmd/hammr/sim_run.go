package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// simRun is what `hammr sim run` is asked for.
type simRun struct {
	simCluster
	source    simWorkload
	out       string
	runs      int
	tasks     bool
	decisions simDecisions

	first *workload.Workload // of the first run
	made  []sched.Policy     // for it
}

func newSimRun() *cobra.Command {
	var s simRun
	cmd := &cobra.Command{
		Use:   "run --workload FILE --policy NAME[,NAME…] --nodes N --out DIR",
		Short: "A workload on a cluster in virtual time, by the code of the real master",
		Long: `Play a workload on a cluster that is only modelled, under one policy after the
other. The masters are the real ones: the same code decides here and in a
jobmaster. docs/sim.md says what is modelled, and how. Two runs with the same
flags give the same bytes.

FILE is a CSV of jobs, a SWIM trace, a Rumen trace, or a history of jobs or a
directory of histories (--format tells which where content does not), or
spec:… for laws of chance, such as
  spec:jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3

DIR, which must not exist, gets jobs.csv, a line for each job and policy, with
--tasks tasks.csv, a line for each attempt, and pictures: sojourn, the
distribution of sojourn times, and slots, who has which slots when. With
--decisions decisions.jsonl says who was offered slots, and why some came to
nothing, as masters do. With --runs these tables are run-001/jobs.csv and so on.`,
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
	flags.IntVar(&s.runs, "runs", 1, "`number` of runs: the seeds are the one given and those that follow it")
	flags.BoolVar(&s.decisions.wanted, "decisions", false, "write decisions.jsonl, what was decided about slots in the first run")
	flags.BoolVar(&s.tasks, "tasks", false, "write tasks.csv, a line for each attempt")
	flags.StringVar(&s.out, "out", "", "`directory` to write, which must not exist")
	for _, flag := range []string{"nodes", "out"} {
		_ = cmd.MarkFlagRequired(flag) // fails for a flag that does not exist only
	}
	return cmd
}

func (s *simRun) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := s.prepare(); err != nil {
		fmt.Fprintln(stderr, "hammr:", err)
		return exitError(exitUsage)
	}
	if err := tryDir(s.out); err != nil {
		return err
	}
	s.warn(stderr)
	meter := newSimMeter(stderr, s.quiet)
	runs, err := s.play(ctx, meter)
	meter.clear()
	if err != nil {
		return err
	}
	if err := s.save(runs); err != nil {
		return err
	}
	s.describe(stdout)
	if s.runs == 1 {
		return sim.WriteSummary(stdout, runs[0].played)
	}
	return writeSpreads(stdout, s.policies, runs)
}

// prepare fails for what is wrong with the flags and the workload only.
func (s *simRun) prepare() (err error) {
	if err := refuseExisting(s.out); err != nil {
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

// describe tells what was played.
func (s *simRun) describe(w io.Writer) {
	load := "all of them come at once, so there is no offered load"
	if s.first.LastSubmit() > 0 {
		maps, reduces := s.first.OfferedLoad(s.slots())
		load = fmt.Sprintf("offered load %.2f of the map slots, %.2f of the reduce slots", maps, reduces)
	}
	fmt.Fprintf(w, "%s: %d jobs on %d machines; %s\n", s.first.Name, len(s.first.Jobs), s.cfg.Machines, load)
	for _, note := range s.first.Notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
	fmt.Fprintln(w)
}

// repetition is what came of one seed.
type repetition struct {
	seed   uint64
	played []sim.PolicyRun // in the order of the policies
}

// play plays all runs, under all policies each.
func (s *simRun) play(ctx context.Context, meter *simMeter) (runs []repetition, err error) {
	w, policies := s.first, s.made
	for n := range s.runs {
		seed := s.cfg.Seed + uint64(n)
		if n > 0 {
			if w, err = s.source.load(s.cfg.Machines, seed); err != nil {
				return nil, err
			}
			if policies, err = s.makePolicies(w, seed); err != nil {
				return nil, err
			}
		}
		played, err := s.playSeed(ctx, w, policies, seed, n == 0, meter)
		if err != nil {
			return nil, err
		}
		runs = append(runs, repetition{seed, played})
	}
	return runs, nil
}

// playSeed is one run under each policy. Pictures of slots are made of the first
// run only, so only that tells of them.
func (s *simRun) playSeed(
	ctx context.Context, w *workload.Workload, policies []sched.Policy, seed uint64, drawn bool, meter *simMeter,
) (played []sim.PolicyRun, err error) {
	for i, name := range s.policies {
		cfg := s.cfg
		cfg.Policy, cfg.Seed, cfg.Failures = policies[i], seed, slices.Clone(s.cfg.Failures)
		cfg.Tasks, cfg.Series = s.tasks || drawn && s.draws(), drawn
		title := name
		if s.runs > 1 {
			title = fmt.Sprintf("%s, seed %d", name, seed)
		}
		if drawn {
			s.decisions.hear(&cfg, name)
		}
		cfg.OnProgress = meter.watch(title, len(w.Jobs))
		r, err := sim.Run(ctx, cfg, w)
		if err == nil {
			err = context.Cause(ctx) // short runs do not look
		}
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", title, err)
		}
		played = append(played, sim.PolicyRun{Policy: name, Result: r})
	}
	return played, nil
}
