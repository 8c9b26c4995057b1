package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// simWhatif holds the flags of `hammr sim whatif`. given reports whether the user has set a
// flag; the histories give the values of the other flags.
type simWhatif struct {
	simCluster
	recordedJobs
	out   string
	json  bool
	given func(flag string) bool
}

// newSimWhatif reads histories, of masters for example, and asks no cluster. Masters start it
// for their web page.
func newSimWhatif() *cobra.Command {
	var s simWhatif
	cmd := &cobra.Command{
		Use:   "whatif --history FILE|DIR --policy NAME[,NAME…]",
		Short: "Predict the jobs of a real cluster under another policy",
		Long: `Simulate the jobs in histories of a real cluster under other policies, or on
another cluster. For each job, print the sojourn time that was recorded and the
one that is predicted. Histories can be on any file system, as hdfs://….

By default the cluster has the machines and slots that the attempts of the
histories used, which is the least that the real one had; --nodes, --map-slots
and --reduce-slots state others. With the policy and the cluster of the
histories, the difference is the error of the simulator; --baseline NAME
simulates these too and prints it.

--job, --pool, --from and --to select jobs. The others do not run then, so the
selected ones have the cluster to themselves. A time is a day, as 2026-11-23 in
UTC, or of RFC 3339.`,
		Example: `  hammr sim whatif --history /var/hammr/history --policy fifo,hfsp
  hammr sim whatif --history /var/hammr/history --policy fair --nodes 20 --quiet
  hammr sim whatif --history hdfs://nn/history --policy hfsp --baseline fair \
    --from 2026-11-23 --to 2026-11-23 --json`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			s.given = cmd.Flags().Changed
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	s.addFlags(cmd)
	flags := cmd.Flags()
	s.addSelection(flags)
	flags.StringVar(&s.history, "history", "", "`file` or directory of histories")
	flags.StringVar(&s.out, "out", "", "`file` for the table as CSV, which must not exist")
	flags.BoolVar(&s.json, "json", false, "print JSON")
	flags.StringVar(&s.baseline, "baseline", "", "`policy` under which the jobs ran, to simulate it on the cluster of the histories")
	flags.IntVar(&s.selected.MaxJobs, "max-jobs", 0, "refuse a larger `number` of jobs; 0 is any")
	completes(cmd, "baseline", registry.Names())
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
	w, err := s.prepare(ctx, stderr)
	if err != nil {
		return usageError{err}
	}
	policies, err := s.makePolicies(w, s.cfg.Seed)
	if err != nil {
		return usageError{err}
	}
	s.warn(stderr)
	line := newStatusLine(stderr, s.quiet)
	comparison := results.WhatIf{Workload: w}
	for i, name := range s.policies {
		r, err := s.simulate(ctx, s.cfg, w, name, policies[i], line)
		if err != nil {
			return err
		}
		comparison.Runs = append(comparison.Runs, r)
	}
	baseline, err := s.simulateBaseline(ctx, &comparison, line)
	if err != nil {
		return err
	}
	doc := comparison.Document(clusterOf(s.cfg), baseline)
	if s.out != "" {
		if err := results.WriteNew(s.out, doc.WriteCSV); err != nil {
			return err
		}
	}
	return s.print(stdout, &doc)
}

// simulate runs the jobs under a policy.
func (s *simWhatif) simulate(ctx context.Context, cfg sim.Config, w *workload.Workload, name string, policy sched.Policy, line *statusLine) (r results.PolicyRun, err error) {
	r.Policy = name
	cfg.Policy, cfg.OnProgress = policy, line.onProgress(name, len(w.Jobs))
	r.Result, err = sim.Run(ctx, cfg, w)
	line.clear()
	if err != nil {
		return r, fmt.Errorf("policy %s: %w", name, err)
	}
	return r, nil
}

// simulateBaseline runs the policy of --baseline on the observed cluster, unless that is one of the
// runs already. It returns nil without such a policy.
func (s *simWhatif) simulateBaseline(ctx context.Context, x *results.WhatIf, line *statusLine) (*results.PolicyRun, error) {
	if s.baseline == "" {
		return nil, nil
	}
	o := x.Workload.Observed
	cfg := s.cfg
	cfg.Machines, cfg.MapSlots, cfg.ReduceSlots = o.Machines, o.MapSlots, o.ReduceSlots
	noneIfZero(&cfg.MapSlots)
	noneIfZero(&cfg.ReduceSlots)
	if clusterOf(cfg) == clusterOf(s.cfg) {
		for i := range x.Runs {
			if x.Runs[i].Policy == s.baseline {
				return &x.Runs[i], nil
			}
		}
	}
	real := simCluster{cfg: cfg}
	if err := real.checkWorkload(x.Workload); err != nil {
		return nil, usageError{fmt.Errorf("--baseline: the histories do not show where their tasks ran: %w", err)}
	}
	policy, err := s.makePolicy(s.baseline, x.Workload, s.cfg.Seed)
	if err != nil {
		return nil, usageError{fmt.Errorf("--baseline: %w", err)}
	}
	r, err := s.simulate(ctx, cfg, x.Workload, s.baseline, policy, line)
	return &r, err
}

// clusterOf returns the cluster of a configuration.
func clusterOf(cfg sim.Config) results.WhatIfCluster {
	return results.WhatIfCluster{Machines: cfg.Machines, MapSlots: max(cfg.MapSlots, 0), ReduceSlots: max(cfg.ReduceSlots, 0)}
}

// print prints the comparison as a table or as JSON.
func (s *simWhatif) print(stdout io.Writer, doc *results.WhatIfDocument) error {
	if s.json {
		return json.NewEncoder(stdout).Encode(doc)
	}
	fmt.Fprintf(stdout, "%s: %d jobs on %d machines with %d map and %d reduce slots each\n", doc.History, len(doc.Jobs),
		doc.Cluster.Machines, doc.Cluster.MapSlots, doc.Cluster.ReduceSlots)
	for _, note := range doc.Notes {
		fmt.Fprintf(stdout, "  %s\n", note)
	}
	fmt.Fprintln(stdout)
	if err := doc.WriteTable(stdout, oneLine); err != nil || doc.Baseline == nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nerror of the simulator (mean difference of %s on %d machines with %d map and %d reduce slots): %.1f %%\n",
		doc.Baseline.Policy, doc.Observed.Machines, doc.Observed.MapSlots, doc.Observed.ReduceSlots, doc.Baseline.Difference*100)
	return err
}

// prepare returns only errors of the flags and the histories, which are the user's mistakes.
// The histories give the numbers of machines and slots that the user has not set.
func (s *simWhatif) prepare(ctx context.Context, stderr io.Writer) (*workload.Workload, error) {
	if s.out != "" {
		if err := results.CheckNew(s.out); err != nil {
			return nil, err
		}
	}
	w, err := readPast(ctx, &s.recordedJobs, stderr, workload.ReadHistories)
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
