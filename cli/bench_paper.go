package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/sim/results"
)

// benchPaper has the flags of `hammr bench paper`, and the values that prepare derives from
// them.
type benchPaper struct {
	name, out string
	only      string // the one experiment to run; "" for all
	// Exactly one of the two is set; prepare checks this.
	sim, cluster bool
	// Value of --workload-dir. Options.WorkloadDir has the same value, or "" if workloads
	// are drawn at random.
	workloadDir    string
	namesWorkloads bool // the user has named the directory
	paper.Options

	bed   testbed
	speed float64
	scale int

	selection *live.Selection // experiments on real clusters; set by prepare
}

// tracesDir is the default directory of the traces: next to the source tree, where the
// experiments run.
var tracesDir = filepath.Join("..", "shared", "traces")

// newBenchPaper runs in the simulator with --sim. With --cluster it also starts clusters of
// this machine, and asks their jobmasters as a client does. It exits with 1 if a trial
// fails. Finished trials are kept in DIR/trials and not run again.
func newBenchPaper() *cobra.Command {
	var b benchPaper
	names := strings.Join(paper.Names(), "|")
	cmd := &cobra.Command{
		Use:   "paper " + names + " --sim|--cluster|--hostfile FILE --out DIR",
		Short: "Run a paper's experiments, and compare its figures with ours",
		Long: `Run the experiments of one of the papers that Hammr implements, and print the
paper's figures next to ours. With --sim they run in the simulator, in virtual
time: two runs with the same flags write the same bytes. docs/sim.md has the
model.

With --cluster they run on real clusters of this machine as well, one process
for each daemon and task, one trial after the other, and the report has the
paper, the simulator and the real cluster side by side. Tasks sleep, times are
divided by a factor, and a machine fails when its tasknode is killed;
docs/benchmarks.md has the details. The report lists experiments that are not
run with the reason. An interrupted experiment resumes if the same version runs
it again with the same --out: then DIR may exist.

With --hostfile the clusters are on the machines of a hostfile: the first has
the master and the NameNode, each of the others a tasknode and a DataNode. Times
are those of the paper, and so are the machines if there are enough; else
machines and tasks are divided by the smallest number that fits. --plan prints
what will run and for how long.

DIR, which must not exist, gets report.md with what differs and why, the
pictures as SVG, and the numbers as CSV.

hfsp reads the traces hfsp_fb2009.csv and hfsp_fb2010.csv of --workload-dir.
Without that flag, and without those files in its default, it draws workloads by
the same quotas.`,
		Example: `  hammr bench paper hfsp --sim --runs 20 --out hfsp
  hammr bench paper chronos --sim --short --out chronos
  hammr bench paper chronos --cluster --only fifo-maps --runs 3 --out chronos
  hammr bench paper hfsp --only fig7 --hostfile hosts --out fig7`,
		Args:      oneArg("the name of a paper"),
		ValidArgs: paper.Names(),
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			b.name, b.namesWorkloads = args[0], cmd.Flags().Changed("workload-dir")
			return b.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	outFlag(cmd, &b.out)
	flags := cmd.Flags()
	flags.BoolVar(&b.sim, "sim", false, "run in the simulator")
	flags.BoolVar(&b.cluster, "cluster", false, "run on real clusters of this machine, and in the simulator")
	b.bed.flags(cmd)
	flags.Float64Var(&b.speed, "speed", 1, "`factor` by which experiments are faster than in the paper, with --hostfile")
	flags.IntVar(&b.scale, "scale", 0, "`number` that divides the machines and tasks of the paper, with --hostfile (default the smallest that fits)")
	flags.StringVar(&b.only, "only", "", "`name` of the one experiment to run, not with --sim (default all)")
	flags.IntVar(&b.Runs, "runs", 0, "`number` of repetitions, each with a seed of its own (default the paper's)")
	flags.Uint64Var(&b.Seed, "seed", 1, "`number` that seeds the random choices of the first repetition; the others' follow")
	flags.BoolVar(&b.Short, "short", false, "use smaller clusters, fewer jobs and two repetitions, for automatic checks")
	flags.StringVar(&b.workloadDir, "workload-dir", tracesDir, "`directory` of the traces")
	return cmd
}

// run runs the experiments in the simulator, or calls runReal if --cluster is given.
func (b *benchPaper) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := b.prepare(); err != nil {
		return usageError{err}
	}
	switch {
	case b.bed.plan:
		return b.printPlan(ctx, stdout)
	case !b.sim:
		return b.runReal(ctx, stdout, stderr)
	}
	line := newStatusLine(stderr, false)
	b.Progress = line.showRuns
	report, err := paper.Run(ctx, b.name, b.Options, paper.Simulator{})
	line.clear()
	if err != nil {
		return err
	}
	return b.save(report, stdout)
}

// save writes the report into the directory of results, and prints its table.
func (b *benchPaper) save(report *paper.Report, stdout io.Writer) error {
	report.Command, report.Versions = b.command(), ownVersion()
	if err := report.Write(b.out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "seeds from %d; %s\n\n", b.Seed, filepath.Join(b.out, "report.md"))
	return report.WriteTable(stdout)
}

// prepare checks the command line, so that mistakes show before hours of work. Every error
// that it returns is a mistake of the user.
func (b *benchPaper) prepare() error {
	_, err := paper.Find(b.name)
	switch {
	case err != nil:
		return err
	case b.places() != 1:
		return errors.New("say where: --sim in the simulator, --cluster on real clusters of this machine, or --hostfile on those of other machines")
	case b.only != "" && b.sim:
		return errors.New("--only: expected --cluster or --hostfile, whose experiments it chooses from")
	case b.bed.plan && b.sim:
		return errors.New("--plan: expected --cluster or --hostfile, whose experiments it describes")
	case !(b.speed > 0 && b.speed <= 1000):
		return fmt.Errorf("--speed %g: expected a number above 0, up to 1000", b.speed)
	case b.scale < 0:
		return fmt.Errorf("--scale %d: expected 1 or more, or 0 for the smallest that fits", b.scale)
	case b.Runs < 0:
		return fmt.Errorf("--runs %d: expected 1 or more, or 0 for the paper's number", b.Runs)
	case b.Seed == 0:
		return errors.New("--seed 0: expected 1 or more")
	}
	if err := results.CheckNew(b.out); err != nil && (b.sim || !resumable(b.out, trialsDir)) {
		return err
	}
	if b.name == "hfsp" {
		if err := b.findWorkloads(); err != nil {
			return err
		}
	}
	if err := b.bed.check(); err != nil {
		return err
	}
	// This machine cannot run clusters of 100 tasknodes.
	b.Short = b.Short || b.name == "hfsp" && b.cluster
	b.selection = &live.Selection{Paper: b.name, Only: b.only, Options: b.Options}
	if b.bed.hostfile != "" {
		b.selection.Testbed = &live.Testbed{Speed: b.speed, Divisor: b.scale}
		b.selection.Testbed.Config.File = b.bed.file
	}
	if err := b.selection.Check(); err != nil {
		return fmt.Errorf("--only %s: %w", b.only, err)
	}
	return nil
}

// places returns how many places for the experiments are given.
func (b *benchPaper) places() (n int) {
	for _, given := range []bool{b.sim, b.cluster, b.bed.hostfile != ""} {
		if given {
			n++
		}
	}
	return n
}

// resumable reports whether an existing directory has, under a name, the results of an interrupted
// experiment on a real cluster, so that the experiment can resume there.
func resumable(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// findWorkloads finds the traces in the directory that the user has named, or in the default
// directory if that exists. A directory that the user has named must exist: otherwise the
// experiment would silently run on other workloads.
func (b *benchPaper) findWorkloads() error {
	_, err := os.Stat(b.workloadDir)
	switch {
	case err == nil:
		b.WorkloadDir = b.workloadDir
	case b.namesWorkloads || !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--workload-dir: %w", err)
	}
	return nil
}

// command returns the command line that makes the same report again. The report contains it,
// so it names every flag that changes a result. DIR stands for the directory, which changes
// none.
func (b *benchPaper) command() string {
	where := "--sim"
	switch {
	case b.cluster:
		where = "--cluster"
	case !b.sim:
		where = fmt.Sprintf("--hostfile FILE --speed %g --scale %d", b.speed, b.scale)
	}
	command := fmt.Sprintf("hammr bench paper %s %s --seed %d", b.name, where, b.Seed)
	for _, option := range []struct {
		given bool
		text  string
	}{
		{b.Runs > 0, fmt.Sprintf("--runs %d", b.Runs)}, {b.Short, "--short"}, {b.only != "", "--only " + b.only},
		{b.WorkloadDir != "", "--workload-dir " + b.WorkloadDir}, {true, "--out DIR"},
	} {
		if option.given {
			command += " " + option.text
		}
	}
	return command
}

// trialsDir has the saved trials of an experiment on a real cluster.
const trialsDir = "trials"

// runReal runs the experiments on real clusters of this machine, one trial at a time, and
// the same trials in the simulator. Experiments that give each machine its own network run
// in their own namespaces; jars of HDFS are downloaded before the namespaces start.
func (b *benchPaper) runReal(ctx context.Context, stdout, stderr io.Writer) error {
	canIsolate := rig.CanIsolate
	if rig.Isolated() {
		canIsolate = func() error { return nil }
	}
	if err := b.selection.Probe(ctx, canIsolate); err != nil {
		return err
	}
	return inNamespaces(ctx, b.selection.NeedsNetworks, stdout, stderr, func() error {
		return runOnTestbed(ctx, "paper", &b.bed, stdout, stderr, func(e experiment) error { return b.compare(ctx, e) })
	})
}

// printPlan prints the experiments that will run, with the time that their trials take in the
// simulator, at the scale of the run, and the start of each cluster.
func (b *benchPaper) printPlan(ctx context.Context, stdout io.Writer) error {
	if err := b.selection.Probe(ctx, rig.CanIsolate); err != nil {
		return err
	}
	b.Skip, b.Controls = b.selection.WhyNot, true
	timed := &live.Forecast{Selection: b.selection}
	if _, err := paper.Run(ctx, b.name, b.Options, timed); err != nil {
		return err
	}
	var text strings.Builder
	if err := timed.Table().Text(&text); err != nil {
		return err
	}
	return b.bed.printPlan(stdout, text.String())
}

// compare runs the simulator first, because it is fast and finds mistakes in the plan.
func (b *benchPaper) compare(ctx context.Context, e experiment) error {
	if err := os.MkdirAll(filepath.Join(b.out, trialsDir), 0o777); err != nil {
		return err
	}
	if e.Testbed != nil {
		e.Testbed.Speed, e.Testbed.Divisor = b.speed, b.scale
		b.selection.Testbed = e.Testbed
	}
	environment := e.environment(b.selection.Scales())
	if err := environment.Write(b.out); err != nil {
		return err
	}
	b.Skip, b.ReadsBlocks, b.Controls = b.selection.WhyNot, b.selection.ReadsBlocks, true
	report, err := paper.Run(ctx, b.name, b.Options, live.Simulated{Selection: b.selection})
	if err != nil {
		return err
	}
	// Real trials run one after the other: two clusters would compete for the cores.
	b.Workers = 1
	runner := &live.Runner{Selection: b.selection, Hammr: e.Hammr, Work: e.Work, Keep: filepath.Join(b.out, trialsDir), Logf: e.Logf}
	report.Real, err = paper.Run(ctx, b.name, b.Options, runner)
	if err = errors.Join(err, runner.Close()); err != nil {
		return err
	}
	report.Real.Command, report.Real.Versions = b.command(), ownVersion()
	report.Environment = b.selection.About() + "\n" + environment.Markdown() + b.selection.Notes(report)
	return b.save(report, e.stdout)
}
