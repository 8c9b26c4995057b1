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
	var list, figures bool
	var size string
	cfg := bench.Config{Dir: os.Getenv("BENCH_DIR"), Yardstick: os.Getenv("YARDSTICK_DIR")}
	cmd := &cobra.Command{
		Use:   "programs [--case CASES] [--rounds N] [--size BYTES]",
		Short: "Compare Hammr's programs with hand-written ones, GNU sort and coreutils",
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
		Args: cobra.NoArgs,
		RunE: checked(func() (err error) {
			if size != "" {
				cfg.SizeBytes, err = parseSize(size)
			}
			return err
		}, func(ctx context.Context, stdout, _ io.Writer) error {
			if list {
				bench.List(stdout)
				return nil
			}
			cfg.Out = stdout
			if figures {
				return bench.Figures(ctx, cfg)
			}
			return bench.Run(ctx, cfg)
		}),
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the cases")
	cmd.Flags().BoolVar(&figures, "figures", false, "compare with the committed values, not with other programs")
	addContestFlags(cmd, &cfg, &size)
	return cmd
}

// addContestFlags adds the flags of commands that run contests of package bench.
func addContestFlags(cmd *cobra.Command, cfg *bench.Config, size *string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&cfg.Cases, "case", nil, "`cases` to run, or patterns such as wordcount* (default all)")
	flags.IntVar(&cfg.Rounds, "rounds", 5, "`number` of measurements of each program")
	flags.StringVar(size, "size", "", "`bytes` of the main input, with k, m or g (default 1g)")
	flags.BoolVar(&cfg.Cold, "cold", false, "measure without a warm-up run before each measurement")
	flags.StringVar(&cfg.Results, "results", "", "`directory` of the results (default bench/results)")
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
