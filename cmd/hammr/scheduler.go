package main

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

	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sched/registry"
)

func (r clusterCommands) newScheduler() *cobra.Command {
	return group(&cobra.Command{
		Use:     "scheduler",
		Short:   "Look at the policy that gives out slots, and change it",
		Example: "  hammr scheduler show",
	}, r.newSchedulerShow(), r.newSchedulerSet())
}

// policyDocument is the policy as JSON.
type policyDocument struct {
	Policy      string              `json:"policy"`
	Conf        map[string]string   `json:"conf,omitempty"`
	Allocations *allocationDocument `json:"allocations,omitempty"`
}

// allocationDocument is the file of pools that the masters follow, as JSON.
type allocationDocument struct {
	File     string   `json:"file"`
	Taken    int64    `json:"taken"` // when the master that leads took it over last, ms since the epoch; 0 for not yet
	Faults   []string `json:"faults,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

func policyOf(p *wire.GetPolicyResponse) policyDocument {
	out := policyDocument{Policy: p.Name, Conf: p.Conf}
	if a := p.Allocations; a != nil {
		out.Allocations = &allocationDocument{a.Name, a.Taken, a.Faults, a.Warnings}
	}
	return out
}

func (r clusterCommands) newSchedulerShow() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "show",
		Short:   "Show the policy that gives out slots, and what it is set to",
		Example: "  hammr scheduler show --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) error {
		p, err := q.Policy(ctx)
		if err != nil {
			return err
		}
		return q.answer(policyOf(p), func(w io.Writer) {
			fmt.Fprintf(w, "Slots are given out by policy %s\n", p.Name)
			for _, setting := range slices.Sorted(maps.Keys(p.Conf)) {
				fmt.Fprintf(w, "  %s=%s\n", setting, oneLine(p.Conf[setting]))
			}
			q.writeAllocations(w, p.Allocations)
		})
	})
}

// writeAllocations tells of the file of pools that the masters follow, if any.
func (q *query) writeAllocations(w io.Writer, a *wire.AllocationFile) {
	if a == nil {
		return
	}
	fmt.Fprintf(w, "Pools are those of %s, taken over at %s\n", a.Name, q.time(a.Taken))
	for _, fault := range a.Faults {
		fmt.Fprintf(w, "  not taken over: %s\n", fault)
	}
	for _, warning := range a.Warnings {
		fmt.Fprintf(w, "  %s\n", warning)
	}
}

func (r clusterCommands) newSchedulerSet() *cobra.Command {
	conf := make(settings)
	cmd := r.command(&cobra.Command{
		Use:   "set POLICY [--conf NAME=VALUE]…",
		Short: "Choose the policy that gives out slots, while jobs run",
		Long: `Choose the policy that gives out slots. What runs goes on; what starts next is
the new policy's choice. It is set to what --conf says and nothing else, on all
masters, those that lead later too. The pools of fair are those of Hadoop's
allocation file, which is read here and now.`,
		Example: `  hammr scheduler set fifo
  hammr scheduler set fair --conf mapred.fairscheduler.allocation.file=pools.xml`,
		Args: oneArg("the name of a policy"),
	}, func(ctx context.Context, q *query) error {
		if err := readAllocations(conf); err != nil {
			return err
		}
		if err := q.SetPolicy(ctx, q.args[0], conf); err != nil {
			return err
		}
		q.report(change{ID: q.args[0], Done: "chosen"}, "Slots are given out by policy %s", q.args[0])
		return q.warnClosedPools(ctx, conf)
	})
	cmd.Flags().Var(conf, "conf", "a setting of the policy; may be given several times")
	return cmd
}

// readAllocations puts what the allocation file holds beside its name: masters
// read no files of the user.
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

// settings are what a policy is set to, one NAME=VALUE for each flag.
type settings map[string]string

// Set implements pflag.Value.
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
