package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/all"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// simRun is what `hammr sim run` is asked for.
type simRun struct {
	workload, format, out string
	allocations           string
	policies, fail        []string
	sigma                 float64
	heartbeat, latency    time.Duration
	expiry                time.Duration
	cfg                   sim.Config
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

DIR, which must not exist, gets jobs.csv, a line for each job and policy.`,
		Example: `  hammr sim run --workload hfsp_fb2009.csv --nodes 100 --out fb2009
  hammr sim run --workload spec:fb2009 --nodes 20 --fail 3@10m,4@1h+5m --out dir`,
		Args: cobra.NoArgs,
		RunE: work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&s.workload, "workload", "", "`file` of the jobs, or spec:…")
	flags.StringVar(&s.format, "format", "", "of the file: `"+strings.Join(workload.Formats(), ", ")+"`; found by its content when empty")
	flags.Float64Var(&s.sigma, "sigma", 0, "lognormal `spread` of the tasks' times, of files that tell of bytes only")
	flags.StringSliceVar(&s.policies, "policy", []string{"fifo"}, "`names` of policies: "+strings.Join(all.Names(), ", "))
	flags.StringVar(&s.allocations, "allocations", "", "Hadoop's allocation `file`, with the pools of policies that have any")
	flags.IntVar(&s.cfg.Nodes, "nodes", 0, "`number` of machines")
	flags.IntVar(&s.cfg.MapSlots, "map-slots", 4, "`number` of map slots of a machine")
	flags.IntVar(&s.cfg.ReduceSlots, "reduce-slots", 2, "`number` of reduce slots of a machine")
	flags.IntVar(&s.cfg.Racks, "racks", 1, "`number` of racks")
	flags.IntVar(&s.cfg.Replication, "replication", 3, "`copies` of each block of input")
	flags.Uint64Var(&s.cfg.Seed, "seed", 1, "`number` from which all chance comes")
	flags.DurationVar(&s.heartbeat, "heartbeat", 0, "`time` between two reports of a machine; 0: it reports at once")
	flags.DurationVar(&s.latency, "latency", 5*time.Millisecond, "`time` that a message takes")
	flags.DurationVar(&s.expiry, "expiry", 10*time.Second, "`silence` after which a machine is given up")
	flags.StringSliceVar(&s.fail, "fail", nil, "machines that are lost: `NODE@TIME` from the start, counted from 0, +TIME until it is back")
	flags.StringVar(&s.out, "out", "", "`directory` to write, which must not exist")
	for _, flag := range []string{"workload", "nodes", "out"} {
		_ = cmd.MarkFlagRequired(flag) // fails for a flag that does not exist only
	}
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(all.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (s simRun) run(ctx context.Context, stdout, stderr io.Writer) error {
	w, err := s.prepare()
	if err != nil {
		fmt.Fprintln(stderr, "hammr:", err)
		return exitError(exitUsage)
	}
	maps, reduces := w.OfferedLoad(s.cfg.Nodes*s.cfg.MapSlots, s.cfg.Nodes*s.cfg.ReduceSlots)
	fmt.Fprintf(stdout, "%s: %d jobs on %d machines; offered load %.2f of the map slots, %.2f of the reduce slots\n\n",
		w.Name, len(w.Jobs), s.cfg.Nodes, maps, reduces)
	var played []sim.Played
	for _, name := range s.policies {
		cfg := s.cfg
		if cfg.Policy, err = s.policy(name); err != nil {
			return err
		}
		r, err := sim.Run(ctx, cfg, w)
		if err != nil {
			return fmt.Errorf("policy %s: %w", name, err)
		}
		played = append(played, sim.Played{Policy: name, Result: r})
	}
	return errors.Join(s.write(played), sim.WriteSummary(stdout, played))
}

// prepare fails for what is wrong with the flags and the workload only.
func (s *simRun) prepare() (*workload.Workload, error) {
	if _, err := os.Lstat(s.out); err == nil {
		return nil, fmt.Errorf("%s exists; remove it, or name another directory with --out", s.out)
	}
	for _, name := range s.policies {
		if _, err := s.policy(name); err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
	}
	for _, text := range s.fail {
		f, err := parseFailure(text)
		if err != nil {
			return nil, err
		}
		s.cfg.Failures = append(s.cfg.Failures, f)
	}
	for _, slots := range []*int{&s.cfg.MapSlots, &s.cfg.ReduceSlots} {
		if *slots == 0 {
			*slots = -1 // none at all
		}
	}
	s.cfg.Heartbeat, s.cfg.Latency, s.cfg.Expiry = s.heartbeat.Milliseconds(), s.latency.Milliseconds(), s.expiry.Milliseconds()
	if s.cfg.Latency == 0 {
		s.cfg.Latency = -1 // none at all
	}
	if err := s.cfg.Check(); err != nil {
		return nil, err
	}
	return workload.ReadFile(s.workload, workload.Options{
		Format: workload.Format(s.format), Model: workload.Model{Sigma: s.sigma, Seed: s.cfg.Seed},
	})
}

func (s *simRun) policy(name string) (sched.Policy, error) {
	conf := make(settings)
	if s.allocations != "" && all.HasPools(name) {
		conf[all.AllocationFile] = s.allocations
	}
	if err := readAllocations(conf); err != nil {
		return nil, err
	}
	return all.New(name, conf, sched.Setup{Placement: sched.DefaultPlacement()})
}

// parseFailure reads NODE@TIME or NODE@TIME+TIME.
func parseFailure(text string) (f sim.Failure, err error) {
	node, when, found := strings.Cut(text, "@")
	at, back, returns := strings.Cut(when, "+")
	f.Node, err = strconv.Atoi(node)
	began, err2 := time.ParseDuration(at)
	away, err3 := time.Duration(0), error(nil)
	if returns {
		away, err3 = time.ParseDuration(back)
	}
	if err := errors.Join(err, err2, err3); err != nil || !found {
		return f, fmt.Errorf("--fail %q: expected NODE@TIME or NODE@TIME+TIME, such as 3@10m or 3@10m+5m", text)
	}
	f.At, f.Back = began.Milliseconds(), away.Milliseconds()
	return f, nil
}

// write makes the directory with the results.
func (s simRun) write(played []sim.Played) error {
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return err
	}
	jobs, err := os.Create(filepath.Join(s.out, "jobs.csv"))
	if err != nil {
		return err
	}
	return errors.Join(sim.WriteJobs(jobs, played), jobs.Close())
}
