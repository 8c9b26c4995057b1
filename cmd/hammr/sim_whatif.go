package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// simWhatif holds the flags of `hammr sim whatif`. given reports whether the user has set a
// flag; the histories give the values of the other flags.
type simWhatif struct {
	simCluster
	history, out string
	given        func(flag string) bool
}

// newSimWhatif reads histories from files and asks no cluster; masters write them into their
// --history-dir.
func newSimWhatif() *cobra.Command {
	var s simWhatif
	cmd := &cobra.Command{
		Use:   "whatif --history FILE|DIR --policy NAME[,NAME…]",
		Short: "Predict the jobs of a real cluster under another policy",
		Long: `Simulate the jobs in histories of a real cluster under other policies, or on
another cluster. For each job, print the sojourn time that was recorded and the
one that is predicted.

By default the cluster has the machines and slots that the attempts of the
histories used, which is the least that the real one had; --nodes, --map-slots
and --reduce-slots state others. With the policy and the cluster of the
histories, the difference is the error of the simulator.`,
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
	flags.StringVar(&s.out, "out", "", "`file` for the table as CSV, which must not exist")
	// The same flags as in `sim run`, with another default.
	for name, usage := range map[string]string{"nodes": "machines", "map-slots": "map slots of a machine", "reduce-slots": "reduce slots of a machine"} {
		flag := flags.Lookup(name)
		flag.Usage, flag.DefValue = "`number` of "+usage+" (default as many as the histories show)", "0"
	}
	required(cmd, "history", "policy")
	return cmd
}

// run simulates the recorded jobs under each policy and prints the comparison. A row for
// each job has the recorded time and one time for each policy. Notes of the workload say
// what the histories lack.
func (s *simWhatif) run(ctx context.Context, stdout, stderr io.Writer) error {
	w, err := s.prepare()
	if err != nil {
		return usageError{err}
	}
	policies, err := s.makePolicies(w, s.cfg.Seed)
	if err != nil {
		return usageError{err}
	}
	s.warn(stderr)
	line := newStatusLine(stderr, s.quiet)
	comparison := results.WhatIf{Workload: w, Label: oneLine}
	for i, name := range s.policies {
		cfg := s.cfg
		cfg.Policy, cfg.OnProgress = policies[i], line.onProgress(name, len(w.Jobs))
		r, err := sim.Run(ctx, cfg, w)
		line.clear()
		if err != nil {
			return fmt.Errorf("policy %s: %w", name, err)
		}
		comparison.Runs = append(comparison.Runs, results.PolicyRun{Policy: name, Result: r})
	}
	if s.out != "" {
		if err := results.WriteNew(s.out, comparison.WriteCSV); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s: %d jobs on %d machines with %d map and %d reduce slots each\n", w.Name, len(w.Jobs),
		s.cfg.Machines, max(s.cfg.MapSlots, 0), max(s.cfg.ReduceSlots, 0))
	for _, note := range w.Notes {
		fmt.Fprintf(stdout, "  %s\n", note)
	}
	fmt.Fprintln(stdout)
	return comparison.WriteTable(stdout)
}

// prepare returns only errors of the flags and the histories, which are the user's mistakes.
// The histories give the numbers of machines and slots that the user has not set.
func (s *simWhatif) prepare() (*workload.Workload, error) {
	if s.out != "" {
		if err := results.CheckNew(s.out); err != nil {
			return nil, err
		}
	}
	w, err := workload.ReadFile(s.history, workload.Options{Format: workload.HistoryLogs})
	if err != nil {
		return nil, err
	}
	for flag, of := range map[string]struct {
		value    *int
		observed int
	}{
		"nodes":     {&s.cfg.Machines, w.Observed.Machines},
		"map-slots": {&s.cfg.MapSlots, w.Observed.MapSlots}, "reduce-slots": {&s.cfg.ReduceSlots, w.Observed.ReduceSlots},
	} {
		if !s.given(flag) {
			*of.value = of.observed
		}
	}
	if s.cfg.Machines == 0 && !s.given("nodes") {
		return nil, fmt.Errorf("%s names no machines; expected --nodes, --map-slots and --reduce-slots", s.history)
	}
	if err := s.configure(); err != nil {
		return nil, err
	}
	return w, s.checkWorkload(w)
}
