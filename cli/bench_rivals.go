package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/bench/rivals"
)

// newBenchRivals returns the command behind `make bench-rivals`. It compiles programs as
// `hammr bench programs` does.
func newBenchRivals() *cobra.Command {
	var list bool
	var size string
	cfg := rivals.Config{Config: bench.Config{Dir: os.Getenv("BENCH_DIR")}}
	cmd := &cobra.Command{
		Use:   "rivals [--case CASES] [--rival RIVALS] [--rounds N] [--size BYTES]",
		Short: "Compare Hammr with DuckDB, Polars, Spark and coreutils",
		Long: `Run the same work in Hammr and in its rivals, in alternation on the same files,
and print how many times as fast Hammr is. Results are compared before anything
is measured. Start it in the root of Hammr's source.

Rivals that are not installed are skipped. --install installs their Python
packages into a virtual environment beside the input. The environment variable
BENCH_DIR names the directory of both, which takes twelve times --size.`,
		Example: `  hammr bench rivals --install --size 64m --rounds 1
  hammr bench rivals --case 'join,index' --rival duckdb --rounds 5`,
		Args: cobra.NoArgs,
		RunE: checked(func() (err error) {
			if size != "" {
				cfg.SizeBytes, err = parseSize(size)
			}
			return err
		}, func(ctx context.Context, stdout, _ io.Writer) error {
			if list {
				rivals.List(stdout)
				return nil
			}
			cfg.Out = stdout
			return rivals.Run(ctx, cfg)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&list, "list", false, "list the cases and the rivals")
	flags.StringSliceVar(&cfg.Rivals, "rival", nil, "`rivals` to compare with, or patterns (default all)")
	flags.BoolVar(&cfg.Install, "install", false, "install the chosen rivals first")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "`seed` of the input; each seed has input of its own")
	addContestFlags(cmd, &cfg.Config, &size)
	return cmd
}
