package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
)

func newBench() *cobra.Command {
	return group(&cobra.Command{
		Use:   "bench",
		Short: "Run experiments and measurements",
		Example: `  hammr bench paper hammr --sim --out results
  hammr bench preemption --runs 1 --out preemption
  hammr bench failover --rounds 5`,
	}, newBenchCalibrate(), newBenchFailover(), newBenchGrowth(), newBenchLatency(), newBenchPaper(), newBenchPreemption(),
		newBenchPrograms(), newBenchRecovery(), newBenchReplay(), newBenchSchedulers(), newBenchSuspend())
}

// experiment runs on clusters of this machine.
type experiment struct {
	hammr   string // file of this program, for daemons and commands
	scratch string // directory that is removed at the end
	logf    func(format string, args ...any)
}

// runExperiment makes a scratch directory for an experiment.
func runExperiment(name string, stderr io.Writer, run func(e experiment) error) (err error) {
	e := experiment{logf: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }}
	if e.hammr, err = os.Executable(); err != nil {
		return fmt.Errorf("own program, for the daemons to run: %w", err)
	}
	if e.scratch, err = os.MkdirTemp("", "hammr-"+name+"-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(e.scratch)) }()
	return run(e)
}

// writeEnvironment creates the directory of results, and describes in it the machine and
// the settings of the experiment.
func (e experiment) writeEnvironment(out string, settings map[string]string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	return live.EnvironmentOf(e.scratch, settings).Write(out)
}

// checked refuses a command line before any work is done. check returns what is wrong.
func checked(check func() error, run func(ctx context.Context, stdout, stderr io.Writer) error) func(*cobra.Command, []string) error {
	return interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if err := check(); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "hammr:", err)
			return exitError(exitUsage)
		}
		return run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
}

// checkNumber refuses numbers below 1, and directories of results that exist; out "" is
// none.
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
	_ = cmd.MarkFlagRequired("out") // fails for a flag that does not exist only
}
