package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
)

// newScheduler asks the leader. A change is an entry of the replicated log, so every later
// leader has it.
func (r clusterCommands) newScheduler() *cobra.Command {
	return group(&cobra.Command{
		Use:     "scheduler",
		Short:   "Show and change the scheduling policy",
		Example: "  hammr scheduler show",
	}, r.newSchedulerShow(), r.newSchedulerSet())
}

func (r clusterCommands) newSchedulerShow() *cobra.Command {
	return show(r, &cobra.Command{
		Use:     "show",
		Short:   "Show the scheduling policy and its settings",
		Example: "  hammr scheduler show --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) (apidoc.Policy, error) {
		return docs.Policy.From(ctx, q, docs.No{})
	}, func(q *query, p apidoc.Policy) {
		fmt.Fprintf(q.stdout, "Scheduling policy %s\n", p.Policy)
		if p.Problem != "" {
			fmt.Fprintf(q.stdout, "  not in use: %s\n", oneLine(p.Problem))
		}
		for _, setting := range slices.Sorted(maps.Keys(p.Conf)) {
			fmt.Fprintf(q.stdout, "  %s=%s\n", setting, oneLine(p.Conf[setting]))
		}
		q.writeAllocations(q.stdout, p.Allocations)
	})
}

// writeAllocations prints the state of the allocation file that the masters' settings name,
// if any. The leader loads the file again when it changes, and keeps the last good version.
func (q *query) writeAllocations(w io.Writer, a *apidoc.AllocationFile) {
	if a == nil {
		return
	}
	fmt.Fprintf(w, "Pools of %s, loaded at %s\n", a.File, q.time(a.Taken))
	for _, problem := range a.Problems {
		fmt.Fprintf(w, "  not loaded: %s\n", problem)
	}
	for _, warning := range a.Warnings {
		fmt.Fprintf(w, "  %s\n", warning)
	}
}

// newSchedulerSet exits with 1 for an unknown policy or setting; the old policy then stays.
func (r clusterCommands) newSchedulerSet() *cobra.Command {
	conf := make(settings)
	cmd := r.command(&cobra.Command{
		Use:   "set POLICY [--conf NAME=VALUE]…",
		Short: "Change the scheduling policy while jobs run",
		Long: `Change the scheduling policy while jobs run. Running tasks continue; the new
policy decides what starts next. Its settings are those of --conf and no others,
on all masters and across elections. An allocation file of Hadoop's fair
scheduler is read once, on this machine.`,
		Example: `  hammr scheduler set fifo
  hammr scheduler set fair --conf mapred.fairscheduler.allocation.file=pools.xml`,
		Args: oneArg("the name of a policy"),
	}, func(ctx context.Context, q *query) error {
		if err := readAllocations(conf); err != nil {
			return err
		}
		policy := q.args[0]
		if err := q.change(ctx, &wire.ChangeRequest{Do: "policy.set", Id: policy, Conf: conf}, "Scheduling policy is %s", policy); err != nil {
			return err
		}
		return q.warnClosedPools(ctx, conf)
	})
	cmd.Flags().Var(conf, "conf", "a setting of the policy; repeat the flag for more")
	cmd.ValidArgsFunction = cobra.FixedCompletions(registry.Names(), cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

// readAllocations adds the content of the allocation file to the settings that name it,
// because masters do not read files of users. Masters replicate the content, so a later
// change of the file changes nothing.
func readAllocations(conf settings) error {
	name := conf[registry.AllocationFile]
	if name == "" {
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("%s: %w", registry.AllocationFile, err)
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return fmt.Errorf("%s:1: empty; expected <allocations>", name)
	}
	conf[registry.Allocations] = string(content)
	return nil
}

// warnClosedPools warns of pools in the policy's allocation file that accept no jobs. The
// file says what pools get; the jobmasters' settings say which pools exist. Such a file is
// legal, but most often a mistake.
func (q *query) warnClosedPools(ctx context.Context, conf settings) error {
	if conf[registry.Allocations] == "" {
		return nil
	}
	described, err := pool.Parse(conf[registry.AllocationFile], []byte(conf[registry.Allocations]))
	if err != nil {
		return err
	}
	queues, err := docs.Pools.From(ctx, q, docs.No{})
	if err != nil {
		return err
	}
	// The queues that remain in this list are not running.
	closed := described.LeafNames()
	for _, queue := range queues {
		if queue.State == "RUNNING" {
			name := described.Find(queue.Name).Name
			closed = slices.DeleteFunc(closed, func(other string) bool { return other == name })
		}
	}
	if len(closed) > 0 {
		fmt.Fprintf(q.stderr, "hammr: no job can be put into %s: pools that jobs may choose are named by --pools or --allocation-file of the jobmasters\n",
			strings.Join(closed, ", "))
	}
	return nil
}

// settings are settings of a policy. Each flag adds one NAME=VALUE.
type settings map[string]string

// Set adds NAME=VALUE. It rejects a name that is given twice, because one of its values
// would be lost.
func (s settings) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if _, twice := s[name]; !found || name == "" || twice {
		return errors.New("expected NAME=VALUE, each name once")
	}
	s[name] = value
	return nil
}

// String implements pflag.Value.
func (s settings) String() string { return "" }

// Type implements pflag.Value.
func (s settings) Type() string { return "NAME=VALUE" }
