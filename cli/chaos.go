package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/chaos"
)

// newChaos returns the commands that break clusters on purpose. They ask masters as a
// client, call the fault-injection RPCs of tasknodes and masters, and send signals to
// processes. They break only clusters that they have started, or that run with --drills.
func newChaos() *cobra.Command {
	return group(&cobra.Command{
		Use:   "chaos",
		Short: "Run drills: break a cluster on purpose and check that nothing is lost",
		Example: "  hammr chaos run --seed 1 --runs 20 --report drills\n" +
			"  hammr chaos run --plan drills/run-7/plan --report again\n" +
			"  hammr chaos inject partition a2 --hostfile hosts --for 30s\n" +
			"  hammr chaos plan --seed 7",
	}, newChaosRun(), newChaosPlan(), newChaosInject(), newChaosUndo(), newChaosStatus(), newChaosGuard())
}

// newChaosPlan prints the plan of a seed and injects nothing. The same seed and kinds give the
// same plan in every run of this version.
func newChaosPlan() *cobra.Command {
	var seed uint64
	var kinds []string
	cmd := &cobra.Command{
		Use:     "plan --seed N [--kinds KIND,...]",
		Short:   "Print the plan of faults that a seed draws",
		Example: "  hammr chaos plan --seed 7 > plan",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			parsed, err := parseKinds(kinds)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(chaos.Random(seed, parsed).Format())
			return err
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random `seed` of the plan")
	kindsFlag(cmd, &kinds)
	required(cmd, "seed")
	return cmd
}

// kindsFlag adds --kinds, which both commands have.
func kindsFlag(cmd *cobra.Command, kinds *[]string) {
	cmd.Flags().StringSliceVar(kinds, "kinds", nil, "`kinds` of faults that a seed's plan has, joined by commas: "+
		words(chaos.Kinds())+", or all (default those that any user may inject: "+words(chaos.UnprivilegedKinds())+")")
}

// words returns the names of kinds as a list for help texts.
func words(kinds []chaos.Kind) string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

// parseKinds returns the kinds with the given names. Without names it returns none, which
// means all kinds that any user may inject.
func parseKinds(names []string) (kinds []chaos.Kind, err error) {
	if len(names) == 1 && names[0] == "all" {
		return chaos.Kinds(), nil
	}
	for _, name := range names {
		kind := chaos.Kind(name)
		if !slices.Contains(chaos.Kinds(), kind) {
			return nil, fmt.Errorf("--kinds %q: expected all or some of %s", name, words(chaos.Kinds()))
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}
