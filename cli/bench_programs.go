package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/internal/conf"
)

// newBenchPrograms returns the command behind `make bench`. It compiles the programs, so it
// needs the Go toolchain and the source tree; it starts no cluster.
func newBenchPrograms() *cobra.Command {
	var figures bool
	cfg := bench.Config{Dir: os.Getenv("BENCH_DIR"), Yardstick: os.Getenv("YARDSTICK_DIR")}
	cmd := contestCommand(&cobra.Command{
		Use:   "programs [--case CASES] [--rounds N] [--size BYTES]",
		Short: "Compare Hammr's programs with hand-written ones and GNU sort",
		Long: `Build Hammr and the programs it is compared with from source, and run them on
the same files in alternation. Start it in the root of Hammr's source. The
environment variable YARDSTICK_DIR names the directory with the source of the
other programs, and BENCH_DIR a directory for the input, which takes twelve
times --size.

With --figures it measures what the documents state instead, in alternation with
a loop of fixed work, and compares it with the committed values. Exit code 1
means that one is worse by more than a quarter.`,
		Example: `  hammr bench programs --case 'terasort*,wordcount' --rounds 5 --size 1g
  hammr bench programs --figures --size 256m`,
	}, &cfg, bench.List, func(ctx context.Context) error {
		if figures {
			return bench.Figures(ctx, cfg)
		}
		return bench.Run(ctx, cfg)
	})
	cmd.Flags().BoolVar(&figures, "figures", false, "compare with the committed values, not with other programs")
	return cmd
}

// newBenchRivals returns the command behind `make bench-rivals`. It compiles programs as
// `hammr bench programs` does.
func newBenchRivals() *cobra.Command {
	cfg := bench.Config{Dir: os.Getenv("BENCH_DIR")}
	cmd := contestCommand(&cobra.Command{
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
	}, &cfg, bench.ListRivals, func(ctx context.Context) error { return bench.RunRivals(ctx, cfg) })
	flags := cmd.Flags()
	flags.StringSliceVar(&cfg.Rivals, "rival", nil, "`rivals` to compare with, or patterns (default all)")
	flags.BoolVar(&cfg.Install, "install", false, "install the chosen rivals first")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "`seed` of the input; each seed has input of its own")
	return cmd
}

// contestCommand completes a command that runs contests of package bench, or lists them.
func contestCommand(cmd *cobra.Command, cfg *bench.Config, list func(io.Writer), run func(context.Context) error) *cobra.Command {
	var listed bool
	var size string
	cmd.Args = cobra.NoArgs
	cmd.RunE = checked(func() (err error) {
		if size != "" {
			cfg.SizeBytes, err = parseSize(size)
		}
		return err
	}, func(ctx context.Context, stdout, _ io.Writer) error {
		if listed {
			list(stdout)
			return nil
		}
		cfg.Out = stdout
		return run(ctx)
	})
	flags := cmd.Flags()
	flags.BoolVar(&listed, "list", false, "list what is compared")
	flags.StringSliceVar(&cfg.Cases, "case", nil, "`cases` to run, or patterns such as wordcount* (default all)")
	flags.IntVar(&cfg.Rounds, "rounds", 5, "`number` of measurements of each program")
	flags.StringVar(&size, "size", "", "`bytes` of the main input, with k, m or g (default 1g)")
	flags.BoolVar(&cfg.Cold, "cold", false, "measure without a warm-up run before each measurement")
	flags.StringVar(&cfg.Results, "results", "", "`directory` of the results (default bench/results)")
	return cmd
}

// parseSize parses a number of bytes with an optional unit, a power of 1024. It rejects a
// terabyte and more, because the benchmark needs twelve times as much disk space as its
// input.
func parseSize(text string) (int64, error) {
	n, err := conf.ParseSize(text)
	if err != nil || n <= 0 || n >= 1<<40 {
		return 0, fmt.Errorf("--size %q: expected a size such as 512m", text)
	}
	return n, nil
}
