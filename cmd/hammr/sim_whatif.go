package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// simWhatif is what `hammr sim whatif` is asked for.
type simWhatif struct {
	simCluster
	history, out string
	given        func(flag string) bool
}

func newSimWhatif() *cobra.Command {
	var s simWhatif
	cmd := &cobra.Command{
		Use:   "whatif --history FILE|DIR --policy NAME[,NAME…]",
		Short: "What another policy or cluster would have made of jobs that a real one has run",
		Long: `Play the jobs of histories that a cluster has written under other policies, or
on another cluster, and print beside each other how long each job was in the
real cluster and how long it would be in this one.

Machines and slots are as many as attempts tell of, which is the least that the
cluster had, unless --nodes, --map-slots and --reduce-slots say otherwise. Under
the policy and on the cluster of the histories, the difference is the error of
the simulator.`,
		Example: `  hammr sim whatif --history /var/hammr/history --policy fifo,hfsp
  hammr sim whatif --history /var/hammr/history --policy fair --nodes 20 --quiet`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			s.given = cmd.Flags().Changed
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	s.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&s.history, "history", "", "`file` or directory of histories")
	flags.StringVar(&s.out, "out", "", "`file` of the table as CSV, which must not exist; none when empty")
	for name, usage := range map[string]string{"nodes": "machines", "map-slots": "map slots of a machine", "reduce-slots": "reduce slots of a machine"} {
		flag := flags.Lookup(name)
		flag.Usage, flag.DefValue = "`number` of "+usage+"; by default as many as the histories tell of", "0"
	}
	for _, flag := range []string{"history", "policy"} {
		_ = cmd.MarkFlagRequired(flag) // fails for a flag that does not exist only
	}
	return cmd
}

func (s *simWhatif) run(ctx context.Context, stdout, stderr io.Writer) error {
	w, err := s.prepare()
	if err != nil {
		fmt.Fprintln(stderr, "hammr:", err)
		return exitError(exitUsage)
	}
	policies, err := s.makePolicies(w, s.cfg.Seed)
	if err != nil {
		fmt.Fprintln(stderr, "hammr:", err)
		return exitError(exitUsage)
	}
	s.warn(stderr)
	meter := newSimMeter(stderr, s.quiet)
	var played []sim.PolicyRun
	for i, name := range s.policies {
		cfg := s.cfg
		cfg.Policy, cfg.OnProgress = policies[i], meter.watch(name, len(w.Jobs))
		r, err := sim.Run(ctx, cfg, w)
		meter.clear()
		if err != nil {
			return fmt.Errorf("policy %s: %w", name, err)
		}
		played = append(played, sim.PolicyRun{Policy: name, Result: r})
	}
	if s.out != "" {
		if err := writeNew(s.out, func(out io.Writer) error { return writeWhatifCSV(out, w, played) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s: %d jobs on %d machines with %d map and %d reduce slots each\n", w.Name, len(w.Jobs),
		s.cfg.Machines, max(s.cfg.MapSlots, 0), max(s.cfg.ReduceSlots, 0))
	for _, note := range w.Notes {
		fmt.Fprintf(stdout, "  %s\n", note)
	}
	fmt.Fprintln(stdout)
	return writeWhatif(stdout, w, played)
}

// prepare fails for what is wrong with the flags and the histories only.
func (s *simWhatif) prepare() (*workload.Workload, error) {
	if s.out != "" {
		if err := refuseExisting(s.out); err != nil {
			return nil, err
		}
	}
	w, err := workload.ReadFile(s.history, workload.Options{Format: workload.HistoryLogs})
	if err != nil {
		return nil, err
	}
	for flag, seen := range map[string]struct{ value, seen *int }{
		"nodes": {&s.cfg.Machines, &w.Observed.Machines}, "map-slots": {&s.cfg.MapSlots, &w.Observed.MapSlots}, "reduce-slots": {&s.cfg.ReduceSlots, &w.Observed.ReduceSlots},
	} {
		if !s.given(flag) {
			*seen.value = *seen.seen
		}
	}
	if s.cfg.Machines == 0 && !s.given("nodes") {
		return nil, fmt.Errorf("%s does not tell of machines; expected --nodes, --map-slots and --reduce-slots", s.history)
	}
	if err := s.configure(); err != nil {
		return nil, err
	}
	return w, s.checkWorkload(w)
}
