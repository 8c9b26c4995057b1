package cli

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

// newBench returns the command group of the experiments. Some run on clusters of this
// machine: they start `hammr up` processes of this binary and end them. The others run in
// the simulator. No experiment asks a running cluster, except replay --cluster=DIR. Each
// writes into a directory that must not exist, so that no result replaces another. Exit code
// 1 means that a run failed; the results of earlier runs are kept.
func newBench() *cobra.Command {
	return group(&cobra.Command{
		Use:   "bench",
		Short: "Run experiments and measurements",
		Example: `  hammr bench paper hammr --sim --out results
  hammr bench preemption --runs 1 --out preemption
  hammr bench failover --rounds 5`,
	}, newBenchCalibrate(), newBenchFailover(), newBenchFleet(), newBenchLatency(), newBenchPaper(), newBenchPreemption(),
		newBenchPrograms(), newBenchRecovery(), newBenchReplay(), newBenchRivals(), newBenchSchedulers(), newBenchSuspend())
}

// experiment is the state of a running measurement on clusters of this machine.
type experiment struct {
	hammr   string    // path of this program's file, which starts daemons and commands
	scratch string    // directory that is removed at the end
	stdout  io.Writer // receives the tables
	logf    func(format string, args ...any)
}

// runExperiment makes a scratch directory for an experiment and removes it at the end.
func runExperiment(name string, stdout, stderr io.Writer, run func(e experiment) error) (err error) {
	e := experiment{stdout: stdout, logf: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }}
	if e.hammr, err = ownProgram(); err != nil {
		return err
	}
	if e.scratch, err = os.MkdirTemp("", "hammr-"+name+"-"); err != nil {
		return err
	}
	// The scratch directory has logs and local files of clusters. The files that a user may
	// want are already in --out.
	defer func() { err = errors.Join(err, os.RemoveAll(e.scratch)) }()
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

// measures returns the function of a command that runs an experiment on clusters of this
// machine. The function first calls check, which validates the command line. The name of the
// scratch directory begins with name.
func measures(name string, check func() error, run func(ctx context.Context, e experiment) error) func(*cobra.Command, []string) error {
	return checked(check, func(ctx context.Context, stdout, stderr io.Writer) error {
		return runExperiment(name, stdout, stderr, func(e experiment) error { return run(ctx, e) })
	})
}

// writeEnvironment creates the directory of results, and describes in environment.json the
// machine, its load, the versions and the settings of the experiment: figures without them
// cannot be compared.
func (e experiment) writeEnvironment(out string, settings map[string]string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	return live.EnvironmentOf(e.scratch, settings).Write(out)
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
