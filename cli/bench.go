package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
)

// newBench returns the command group of the experiments. Some run on clusters of this
// machine, or with --hostfile on clusters of its machines: they start and end them. The others run
// in the simulator. No experiment asks a running cluster, except replay --cluster=DIR. Each
// writes into a directory that must not exist, so that no result replaces another. Exit code
// 1 means that a run failed; the results of earlier runs are kept.
func newBench() *cobra.Command {
	return group(&cobra.Command{
		Use:   "bench",
		Short: "Run experiments and measurements",
		Example: `  hammr bench paper hammr --sim --out results
  hammr bench preemption --runs 1 --out preemption
  hammr bench failover --rounds 5`,
	}, newBenchCalibrate(), newBenchCompare(), newBenchFailover(), newBenchFleet(), newBenchHost(), newBenchLatency(), newBenchPaper(), newBenchPreemption(),
		newBenchPrograms(), newBenchRecovery(), newBenchReplay(), newBenchRivals(), newBenchSchedulers(), newBenchStream(), newBenchSuspend())
}

// experiment is the state of a running measurement on clusters of this machine.
type experiment struct {
	live.Bench             // its Work is removed at the end
	hosts      []live.Host // of its Testbed
	stdout     io.Writer   // receives the tables
}

// runOnTestbed is runExperiment on the machines of a hostfile, if there is one. It describes them
// first.
func runOnTestbed(ctx context.Context, name string, b *testbed, stdout, stderr io.Writer, run func(e experiment) error) error {
	return runExperiment(name, stdout, stderr, func(e experiment) (err error) {
		if e.Testbed, err = b.open(e.Work, stdout, stderr); err != nil {
			return err
		}
		if e.Testbed != nil {
			b.rootNotice(stderr)
			e.Logf("%s are measured", machinesOf(b.file))
			if e.hosts, err = e.Testbed.Describe(ctx); err != nil {
				return err
			}
		}
		return run(e)
	})
}

// runExperiment makes a scratch directory for an experiment and removes it at the end.
func runExperiment(name string, stdout, stderr io.Writer, run func(e experiment) error) (err error) {
	e := experiment{stdout: stdout}
	e.Logf = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	if e.Hammr, err = ownProgram(); err != nil {
		return err
	}
	if e.Work, err = os.MkdirTemp("", "hammr-"+name+"-"); err != nil {
		return err
	}
	// The scratch directory has logs and local files of clusters. The files that a user may
	// want are already in --out.
	defer func() { err = errors.Join(err, os.RemoveAll(e.Work)) }()
	return run(e)
}

// ownProgram returns the path of this program's file, which starts the daemons.
func ownProgram() (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("own program, for the daemons to run: %w", err)
	}
	return file, nil
}

// writeEnvironment creates the directory of results, and describes in environment.json the
// machine, its load, the versions and the settings of the experiment: figures without them
// cannot be compared.
func (e experiment) writeEnvironment(out string, settings map[string]string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	return e.environment(settings).Write(out)
}

// environment describes the machine, and those of the testbed.
func (e experiment) environment(settings map[string]string) live.Environment {
	environment := live.EnvironmentOf(e.Work, settings)
	environment.Hosts = e.hosts
	return environment
}

// measurement is a command that repeats an experiment on clusters of this machine, and prints a
// table. With --out it writes NAME.csv, a line for each sample, the table as NAME.txt, and
// environment.json. If a repetition fails, the earlier ones are still written, because each has
// taken minutes.
type measurement struct {
	name, short, long, example string

	number  string // name of the flag that has the number of repetitions
	initial int    // its default
	usage   string
	file    string // NAME of the results; "" for the name of the command
	keeps   bool   // --out is required

	check func() error // validates the other flags; nil for none
	run   func(ctx context.Context, e experiment) (tables.Results, error)

	onHosts bool               // it may run on the machines of a hostfile
	plan    func(n int) string // for --plan: what runs, and for how long
}

// command returns the command. flags adds its other flags.
func (m measurement) command(flags func(*cobra.Command)) *cobra.Command {
	var e experiment
	var bed testbed
	cmd := &cobra.Command{
		Use: m.name, Short: m.short, Long: m.long, Example: m.example, Args: cobra.NoArgs,
		RunE: checked(func() error {
			if m.check != nil {
				if err := m.check(); err != nil {
					return err
				}
			}
			return errors.Join(bed.check(), checkNumber(m.number, e.N, e.Keep))
		}, func(ctx context.Context, stdout, stderr io.Writer) error {
			if bed.plan {
				return bed.printPlan(stdout, m.plan(e.N))
			}
			return runOnTestbed(ctx, m.name, &bed, stdout, stderr, func(started experiment) error {
				started.Keep, started.N = e.Keep, e.N
				return m.measure(ctx, started)
			})
		}),
	}
	cmd.Flags().IntVar(&e.N, m.number, m.initial, m.usage)
	if m.keeps {
		cmd.Use += " --out DIR"
		outFlag(cmd, &e.Keep)
	} else {
		cmd.Flags().StringVar(&e.Keep, "out", "", "`directory` to write, which must not exist")
	}
	if m.onHosts {
		bed.flags(cmd)
	}
	flags(cmd)
	return cmd
}

// measure runs the experiment and writes its results.
func (m measurement) measure(ctx context.Context, e experiment) error {
	if e.Keep != "" {
		if err := e.writeEnvironment(e.Keep, map[string]string{m.number: fmt.Sprint(e.N)}); err != nil {
			return err
		}
	}
	r, err := m.run(ctx, e)
	if r.Summary == nil {
		return err
	}
	if err = errors.Join(err, r.Summary.Text(e.stdout)); e.Keep == "" {
		return err
	}
	name := filepath.Join(e.Keep, cmp.Or(m.file, m.name))
	return errors.Join(err, results.WriteNew(name+".csv", r.Samples.CSV), results.WriteNew(name+".txt", r.Summary.Text))
}

// checked returns the function of a command that validates its own flags. check runs before
// any work, so that a wrong flag is reported at once and not after an hour. It is not part
// of cobra's Args, because cobra adds a hint to --help to errors of Args.
func checked(check func() error, run func(ctx context.Context, stdout, stderr io.Writer) error) func(*cobra.Command, []string) error {
	return interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if err := check(); err != nil {
			return usageError{err}
		}
		return run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
}

// checkNumber rejects numbers below 1, and rejects a directory of results that already
// exists. The directory "" means none. Most experiments call it before they start.
func checkNumber(flag string, n int, out string) error {
	if n < 1 {
		return fmt.Errorf("--%s %d: expected 1 or more", flag, n)
	}
	if out == "" {
		return nil
	}
	return results.CheckNew(out)
}

// outFlag adds --out DIR, which is required.
func outFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", "", "`directory` to write, which must not exist")
	required(cmd, "out")
}
