package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/verify"
	"github.com/hammr/hammr/sim/workload"
)

// simVerify holds the flags of `hammr sim verify`.
type simVerify struct {
	policy string
	conf   settings
	cfg    verify.Config
}

// newSimVerify exits with 1 if a property does not hold.
func newSimVerify() *cobra.Command {
	s := simVerify{conf: make(settings)}
	cmd := &cobra.Command{
		Use:   "verify POLICY [--conf NAME=VALUE]…",
		Short: "Check a scheduling policy against the contract of policies",
		Long: `Check a policy against the contract of policies (docs/schedulers.md), in virtual
time: under a stream of small jobs beside a large one, with many jobs one after
the other, and on small random clusters on which machines are lost, drained and
return, jobs are killed and moved, and attempts fail. Print a line for each
property. A failure names the seed and the time; --seed SEED --runs 1 replays
it.`,
		Example: `  hammr sim verify fair
  hammr sim verify hfsp --conf hammr.hfsp.estimator=oracle --runs 100
  hammr sim verify mine --seed 17 --runs 1`,
		Args:              oneArg("the name of a policy"),
		ValidArgsFunction: cobra.FixedCompletions(registry.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			s.policy = args[0]
			return s.run(ctx, cmd.OutOrStdout())
		}),
	}
	flags := cmd.Flags()
	flags.Var(s.conf, "conf", "a setting of the policy; repeat the flag for more")
	flags.Uint64Var(&s.cfg.Seed, "seed", 1, "`number` that seeds the first random run; the others' follow")
	flags.IntVar(&s.cfg.Runs, "runs", 20, "`number` of random runs, each of which is repeated")
	return cmd
}

func (s *simVerify) run(ctx context.Context, stdout io.Writer) error {
	if s.cfg.Seed == 0 || s.cfg.Runs < 1 {
		return usageError{errors.New("--seed and --runs: expected 1 or more")}
	}
	if err := readAllocations(s.conf); err != nil {
		return usageError{err}
	}
	s.cfg.New = func(w *workload.Workload) (sched.Policy, error) {
		modes := preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}
		return registry.New(s.policy, s.conf, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: modes, Oracle: sim.Oracle(w)})
	}
	if _, err := s.cfg.New(&workload.Workload{}); err != nil {
		return usageError{err}
	}
	properties, err := verify.Policy(ctx, s.cfg)
	if err != nil {
		return err
	}
	failed := 0
	for _, p := range properties {
		switch {
		case p.Failure != "":
			failed++
			fmt.Fprintf(stdout, "FAIL  %s: %s\n", p.Name, p.Failure)
		case p.Evidence == "":
			fmt.Fprintf(stdout, "-     %s: not examined\n", p.Name)
		default:
			fmt.Fprintf(stdout, "pass  %s: %s\n", p.Name, p.Evidence)
		}
	}
	if failed > 0 {
		return exitError(exitFailed)
	}
	return nil
}
