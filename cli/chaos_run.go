package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/drill"
	"github.com/hammr/hammr/chaos/simulate"
)

// chaosRun has the flags of `hammr chaos run`.
type chaosRun struct {
	plan      string // file
	seed      uint64
	runs      int
	duration  time.Duration
	report    string // directory
	kindNames []string
	hdfs      bool
	sim       bool
	shrink    int
	attached  attached

	kinds    []chaos.Kind // parsed kindNames, set by prepare
	seeded   bool         // the user has given --seed
	fromFile *chaos.Plan  // plan of --plan, set by prepare; nil for plans of seeds
}

// newChaosRun exits with 1 if a drill was bad or could not run. It exits with 2 if a plan is
// malformed or does not fit the hostfile.
func newChaosRun() *cobra.Command {
	cfg := new(chaosRun)
	cmd := &cobra.Command{
		Use:   "run --plan FILE | --seed N --report DIR [--runs N | --duration TIME]",
		Short: "Run drills, and compare their output with undisturbed runs",
		Long: `Run drills: each starts a cluster of its own on this machine, runs jobs whose
output is known, breaks what its plan says, and compares the output with an
undisturbed run. Later drills use the next seeds. With --hostfile all drills use
one cluster that already runs, such as one of 'hammr cluster start --drills'.

DIR gets drills.csv, to which every drill adds a line, and a directory for each
drill: its plan and verdict.json. For a cluster of its own it also has the logs
of all daemons and the histories of the jobs. A plan that fails is played again
with fewer faults, and the smallest one that still fails is kept next to it. The
exit code is 1 if any drill was bad.

A drill affects only processes that it has started, and with --hostfile the
daemons or machines in that file; the daemons must have been started with
--drills. Partitions and full disks need Linux namespaces, which root can
create, and on many machines any user. See docs/reliability.md for faults,
docs/formats/plan.md for plans.`,
		Example: `  hammr chaos run --seed 1 --runs 20 --report drills
  hammr chaos run --seed 100 --kinds all --duration 1h --report drills
  hammr chaos run --plan drills/run-7/plan --report again
  hammr chaos run --plan plan --hostfile hosts --report drills`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.plan, "plan", "", "`file` with a plan")
	flags.Uint64Var(&cfg.seed, "seed", 0, "random `seed` of the plan of the first drill")
	flags.IntVar(&cfg.runs, "runs", 1, "`number` of drills")
	flags.DurationVar(&cfg.duration, "duration", 0, "`time` within which drills start, instead of --runs")
	flags.StringVar(&cfg.report, "report", "", "`directory` of the reports")
	flags.BoolVar(&cfg.hdfs, "hdfs", false, "run the plans of seeds on a real HDFS, which needs Java, and without partitions")
	flags.BoolVar(&cfg.sim, "sim", false, "run the plans in the simulator; without --report the verdicts are printed")
	flags.IntVar(&cfg.shrink, "shrink", 6, "highest `number` of drills to run while shrinking a failing plan")
	kindsFlag(cmd, &cfg.kindNames)
	cfg.attached.flags(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg.seeded = cmd.Flags().Changed("seed")
		if err := cfg.prepare(); err != nil {
			return err
		}
		return interruptible(cfg.run)(cmd, args)
	}
	return cmd
}

// prepare checks the command line and reads the plan, so that all mistakes show before a
// cluster starts.
func (c *chaosRun) prepare() (err error) {
	switch {
	// Neither or both are set.
	case (c.plan == "") == !c.seeded:
		return errors.New("expected either --plan or --seed")
	case c.report == "" && !c.sim:
		return errors.New("--report is missing: the directory for the reports")
	case c.runs < 1 || c.duration < 0:
		return fmt.Errorf("--runs %d, --duration %v: expected at least 1, and no time below 0", c.runs, c.duration)
	}
	if c.kinds, err = parseKinds(c.kindNames); err == nil {
		err = c.attached.prepare()
	}
	if err != nil || c.plan == "" {
		return err
	}
	text, err := os.ReadFile(c.plan)
	if err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	c.fromFile, err = chaos.Parse(c.plan, text)
	return err
}

// planOf returns the plan of the i-th drill, counted from 0. With --plan it is the file's
// plan each time, else the random plan of the i-th seed. Plans for an HDFS have no
// partitions, as the help says.
func (c *chaosRun) planOf(i int) *chaos.Plan {
	if c.fromFile != nil {
		return c.fromFile
	}
	on := c.attached.clusterForPlans()
	if c.hdfs && on.Accepts == nil {
		on.Accepts = func(f chaos.Fault) bool { return !chaos.SpecOf(f.Kind).NeedsNetwork }
	}
	p := chaos.RandomOn(on, c.seed+uint64(i), c.kinds)
	p.HDFS = c.hdfs
	return p
}

// hasNext reports whether to run an i-th drill, counted from 0. With --duration the last drill
// starts within that time and runs to its end.
func (c *chaosRun) hasNext(ctx context.Context, i int, began time.Time) bool {
	if ctx.Err() != nil {
		return false
	}
	if c.duration > 0 {
		return time.Since(began) < c.duration
	}
	return i < c.runs
}

// run plays the plans in the simulator, or on clusters. Its session starts one cluster for
// each drill, or stays connected to the cluster of --hostfile.
func (c *chaosRun) run(ctx context.Context, cmd *cobra.Command, _ []string) error {
	out := cmd.OutOrStdout()
	if c.sim {
		return c.drills(ctx, simulated, out)
	}
	return inNamespaces(ctx, c.needsIsolation, out, cmd.ErrOrStderr(), func() error {
		self, err := ownProgram()
		if err != nil {
			return err
		}
		end, err := c.attached.open(ctx, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		s, err := drill.NewSession(drill.Config{Hammr: self, Cluster: c.attached.cluster, Data: c.attached.data})
		if err != nil {
			return errors.Join(err, end())
		}
		return errors.Join(c.drills(ctx, s.Run, out), s.Close(), end())
	})
}

// needsIsolation reports whether plans may need namespaces. A cluster on other machines
// needs none: the machines have their own networks and disks, and the hostfile has the
// commands that break them.
func (c *chaosRun) needsIsolation() bool {
	if c.attached.cluster != nil {
		return false
	}
	if c.fromFile != nil {
		return drill.NeedsIsolation(c.fromFile)
	}
	return slices.ContainsFunc(c.kinds, drill.KindNeedsIsolation)
}

// player plays a plan and writes its report into a directory; "" is none.
type player func(ctx context.Context, plan *chaos.Plan, dir string) (*chaos.Verdict, error)

// drills runs one drill after the other, and prints the total of the table of drills at the
// end. It returns exit code 1 if any verdict is bad.
func (c *chaosRun) drills(ctx context.Context, play player, out io.Writer) error {
	fmt.Fprintf(out, drillLine, "seed", "faults", "jobs", "bytes", "lost", "again", "lost ms", "recovery ms", "elapsed ms", "verdict", "kinds", "reached")
	bad, began := false, time.Now()
	for i := 0; c.hasNext(ctx, i, began); i++ {
		v, err := c.drill(ctx, play, i, out)
		if err != nil {
			return err
		}
		bad = bad || !v.Good
	}
	if c.report != "" {
		if err := printTotal(out, filepath.Join(c.report, "drills.csv")); err != nil {
			return err
		}
	}
	if bad {
		return exitError(exitFailed)
	}
	return nil
}

// drill runs drill i and prints its row. Directories of reports are named after seeds, which
// are unique; the drills of one plan file are numbered. Without a report it prints the verdict.
func (c *chaosRun) drill(ctx context.Context, play player, i int, out io.Writer) (*chaos.Verdict, error) {
	plan, dir := c.planOf(i), ""
	switch {
	case c.report == "":
	case c.fromFile != nil:
		dir = filepath.Join(c.report, fmt.Sprintf("run-%03d", i+1))
	case len(plan.Faults) == 0:
		return nil, errors.New("none of these kinds of faults can be injected there: docs/formats/hostfile.md says which can")
	default:
		dir = filepath.Join(c.report, fmt.Sprintf("run-%d", plan.Seed))
	}
	v, err := play(ctx, plan, dir)
	if err != nil {
		return nil, err
	}
	row := chaos.RowOf(plan, v)
	printRow(out, row)
	if c.report == "" || !v.Good {
		fmt.Fprint(out, v)
	}
	if c.report == "" {
		return v, nil
	}
	if err := row.Append(filepath.Join(c.report, "drills.csv")); err != nil {
		return nil, err
	}
	if !v.Good {
		c.shrinkPlan(ctx, play, plan, dir, out)
	}
	return v, nil
}

// shrinkPlan looks for a smaller plan that still fails, and saves it. The drill is bad in
// any case, so errors of the search are not reported. A drill that cannot run counts as a
// drill that passes.
func (c *chaosRun) shrinkPlan(ctx context.Context, play player, plan *chaos.Plan, dir string, out io.Writer) {
	n := 0
	small := chaos.Shrink(plan, c.shrink, func(p *chaos.Plan) bool {
		n++
		v, err := play(ctx, p, filepath.Join(dir, fmt.Sprintf("shrink-%d", n)))
		return err == nil && !v.Good
	})
	// The smaller plan is next to the drill's own plan. An interrupted search is incomplete,
	// so nothing is saved.
	name := filepath.Join(dir, "shrunk")
	if ctx.Err() == nil && os.WriteFile(name, small.Format(), 0o644) == nil {
		again := "--report DIR"
		if c.sim {
			again = "--sim"
		}
		fmt.Fprintf(out, "  %d of %d faults fail as well: hammr chaos run --plan %s %s\n", len(small.Faults), len(plan.Faults), name, again)
	}
}

// drillLine is the format of the table's rows.
const drillLine = "%-12v %-7v %-5v %-10v %-5v %-6v %-9v %-12v %-11v %-8v %-20v %v\n"

// printRow prints a row for a drill: faults hit and planned, wrong jobs and bytes, lost and
// repeated work, times in ms, the verdict, and the paths of recovery.
func printRow(out io.Writer, r chaos.Row) {
	fmt.Fprintf(out, drillLine, r.Seed, fmt.Sprintf("%d/%d", r.Faults, r.Planned), r.Jobs, r.Bytes, r.Lost, r.ExtraAttempts,
		r.WorkLost, r.RecoveryMS, r.ElapsedMS, r.Verdict, r.Kinds, r.Reached)
}

// printTotal prints the sums of the whole table, including earlier drills.
func printTotal(out io.Writer, table string) error {
	f, err := os.Open(table)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // only read
	rows, err := chaos.ReadTable(f, table)
	if err == nil {
		fmt.Fprintf(out, "%s: %v\n", table, chaos.Sum(rows))
	}
	return err
}

// simulated is a player in virtual time. Its report has the files of a real drill, without
// logs and histories, so that tools read both.
func simulated(ctx context.Context, plan *chaos.Plan, dir string) (*chaos.Verdict, error) {
	r, err := simulate.Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return r.Verdict, nil
	}
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	return r.Verdict, errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "plan"), plan.Format(), 0o644),
		os.WriteFile(filepath.Join(dir, "verdict.json"), text, 0o644),
	)
}
