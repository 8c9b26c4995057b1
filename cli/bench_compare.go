package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/engines"
	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/bench/streaming"
	"github.com/hammr/hammr/sim/results"
)

// benchCompare has the flags of `hammr bench compare`.
type benchCompare struct {
	engines.Comparison
	size  string
	slots int
	bed   testbed
}

// newBenchCompare runs on the machines of a hostfile only: on one machine `hammr bench rivals`
// compares more engines.
func newBenchCompare() *cobra.Command {
	var b benchCompare
	cmd := &cobra.Command{
		Use:   "compare --hostfile FILE [--engines LIST] --out DIR",
		Short: "Compare Hammr with Hadoop and Spark on the machines of a hostfile",
		Long: `Run the same work by Hammr, by Hadoop's MapReduce and by Spark on the machines
of a hostfile, and print the times beside each other. The inputs have the shape
of those of HiBench and PUMA:

  wordcount  terasort  grep  index  join  pagerank  kmeans

A cluster is started there with an HDFS and a YARN, which run Hadoop's example
programs, streaming programs where it has no example, and Spark. Runs alternate,
and the outputs of the first are compared. Each time is that of a client from
its start to its exit. An engine that does not start is named, and the others
run. This machine needs Java, and Python with venv for Spark; the machines of
the hostfile need Java.

DIR gets compare.md with the table, compare.svg, compare.csv with each run, and
environment.json with the machines. An interrupted comparison is continued if
DIR has its samples.`,
		Example: `  hammr bench compare --hostfile hosts --install --size 3200m --out small
  hammr bench compare --hostfile hosts --engines hammr,hadoop --out both`,
		Args: cobra.NoArgs,
		RunE: checked(b.check, b.run),
	}
	outFlag(cmd, &b.Dir)
	flags := cmd.Flags()
	flags.StringSliceVar(&b.Engines, "engines", engines.Names, "`names` of engines; times are relative to the first")
	flags.StringSliceVar(&b.Work, "work", engines.WorkNames(), "`names` of the work")
	flags.IntVar(&b.Runs, "runs", 3, "`number` of runs of each work by each engine")
	flags.IntVar(&b.Rounds, "rounds", 10, "`number` of rounds of pagerank and kmeans")
	flags.StringVar(&b.size, "size", "1g", "`bytes` of the input of each work, with k, m or g")
	flags.IntVar(&b.slots, "slots", 0, "`number` of tasks of each kind that a machine runs at a time (default the cores of the smallest)")
	flags.Uint64Var(&b.Seed, "seed", 1, "`seed` of the inputs")
	flags.BoolVar(&b.Install, "install", false, "install Spark on this machine first")
	b.bed.flags(cmd)
	required(cmd, "hostfile")
	completes(cmd, "engines", engines.Names)
	completes(cmd, "work", engines.WorkNames())
	return cmd
}

// check checks the command line.
func (b *benchCompare) check() (err error) {
	if b.Size, err = parseSize(b.size); err != nil {
		return err
	}
	if err := results.CheckNew(b.Dir); err != nil && !resumable(b.Dir, engines.SamplesFile) {
		return err
	}
	if b.slots < 0 {
		return fmt.Errorf("--slots %d: expected 1 or more, or 0 for the cores", b.slots)
	}
	return errors.Join(b.Validate(), b.bed.check())
}

func (b *benchCompare) run(ctx context.Context, stdout, stderr io.Writer) error {
	if b.bed.plan {
		return b.bed.printPlan(stdout, fmt.Sprintf("%s of %d bytes each by %s, %d times: %d runs, each of half a minute and more",
			strings.Join(b.Work, ", "), b.Size, strings.Join(b.Engines, ", "), b.Runs, len(b.Work)*len(b.Engines)*b.Runs))
	}
	return runOnTestbed(ctx, "compare", &b.bed, stdout, stderr, func(e experiment) error {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		b.Scratch, b.Venv, b.Logf = e.Work, filepath.Join(cache, "hammr", "spark"), e.Logf
		if b.slots == 0 {
			b.slots = slices.MinFunc(e.hosts, func(x, y live.Host) int { return x.Cores - y.Cores }).Cores
		}
		environment := e.environment(map[string]string{"slots": fmt.Sprint(b.slots)})
		if err := errors.Join(os.MkdirAll(b.Dir, 0o777), environment.Write(b.Dir)); err != nil {
			return err
		}
		s, err := b.OnTestbed(ctx, e.Testbed, b.slots)
		if s == nil {
			return err
		}
		what := fmt.Sprintf("- %s, %d slots of each kind on each\n%s", machinesOf(b.bed.file), b.slots, environment.Markdown())
		return errors.Join(err, b.Write(s, what), b.Table(s).Text(stdout))
	})
}

// newBenchStream is the mapper and the reducer of the streaming jobs of `hammr bench compare`.
func newBenchStream() *cobra.Command {
	return &cobra.Command{
		Use: "stream NAME map|reduce", Hidden: true, Args: cobra.ExactArgs(2),
		Short: "Run a map or a reduce of Hadoop's streaming",
		RunE: func(cmd *cobra.Command, args []string) error {
			return streaming.Run(args[0]+" "+args[1], &streaming.Task{
				In: cmd.InOrStdin(), Out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<20), Counters: cmd.ErrOrStderr(), Getenv: os.Getenv, Dir: os.DirFS("."),
			})
		},
	}
}
