package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/login"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newClusterRun exits with the code of the program, and with 1 if the cluster does not start or
// its results cannot be collected.
func newClusterRun() *cobra.Command {
	var out string
	var keep bool
	f := &sshFlags{jobUser: login.Name()}
	cmd := &cobra.Command{
		Use:   "run --hostfile FILE [--out DIR] -- PROGRAM ARGS...",
		Short: "Start a cluster, run a program on it, and stop it",
		Long: `Start a cluster as 'hammr cluster start' does, run a program of this machine on
it, collect the reports of its jobs and the logs of the daemons in a directory,
and stop the cluster. PROGRAM is a file, or the name of a bundled program. The
exit code is that of the program. A cluster that runs already is not stopped.
Tasknodes that run as root refuse jobs of root: run the command as another user,
or with --set tasknode.own-user=true.`,
		Example: `  hammr cluster run --hostfile hosts --staging file:///nfs/hammr \
    -- wordcount file:///nfs/in file:///nfs/out`,
		Args: someArgs("a program"),
	}
	f.describe(cmd)
	f.programFlag(cmd)
	cmd.Flags().StringVar(&out, "out", "", "`directory` for reports and logs (default hammr-run-TIME)")
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the cluster running")
	cmd.RunE = interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		program, err := clusterProgram(args)
		if err != nil {
			return usageError{err}
		}
		if out == "" {
			out = "hammr-run-" + time.Now().Format("20060102-150405")
		}
		if err := os.Mkdir(out, 0o755); err != nil {
			return usageError{fmt.Errorf("--out: %w", err)}
		}
		return f.with(ctx, cmd, func(ctx context.Context, c *sshcluster.Cluster, stdout, stderr io.Writer) error {
			r := &clusterRun{sshFlags: f, cluster: c, out: out, keep: keep || c.Runs(), stderr: stderr}
			return r.run(ctx, program, stdout)
		})
	})
	return cmd
}

// clusterProgram returns the command line of a program: a file, or the name of a bundled
// program, which this binary runs.
func clusterProgram(args []string) ([]string, error) {
	file, err := exec.LookPath(args[0])
	if err == nil {
		return append([]string{file}, args[1:]...), nil
	}
	if bundled(args[0]) == nil {
		return nil, fmt.Errorf("program %s: neither a file that can be run nor a bundled program", args[0])
	}
	self, err := ownProgram()
	return append([]string{self, "run"}, args...), err
}

// clusterRun is a program that runs on a cluster of its own.
type clusterRun struct {
	*sshFlags
	cluster *sshcluster.Cluster
	out     string
	keep    bool // the cluster stays
	stderr  io.Writer
}

// run starts the cluster, runs the program and collects what is left of it. The cluster is
// stopped even if the program fails or the command is interrupted.
func (r *clusterRun) run(ctx context.Context, program []string, stdout io.Writer) error {
	begin := time.Now()
	if err := r.cluster.Start(ctx); err != nil {
		return err
	}
	if err := r.announce(r.cluster, begin, io.Discard, r.stderr); err != nil {
		return err
	}
	failed := r.execute(ctx, program, stdout)
	after := context.WithoutCancel(ctx)
	err := errors.Join(r.collect(after), r.stop(after))
	if err != nil {
		fmt.Fprintln(r.stderr, "hammr:", err)
	}
	if failed == nil && err != nil {
		return exitError(exitFailed)
	}
	return failed
}

// execute runs the program to its end. A Ctrl-C interrupts it, so that it can end its jobs.
func (r *clusterRun) execute(ctx context.Context, program []string, stdout io.Writer) error {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Env = append(os.Environ(), rpc.MasterVariable+"="+strings.Join(r.cluster.Plan().Masters(), ","), rpc.TokenFileVariable+"="+r.tokenFile)
	if r.cluster.Plan().FileSystem() != "" {
		cmd.Env = append(cmd.Env, "HADOOP_CONF_DIR="+r.clientConf())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, r.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		fmt.Fprintf(r.stderr, "%s ended with exit code %d.\n", program[0], exit.ExitCode())
		return exitError(exit.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", program[0], err)
	}
	return nil
}

// collect writes a report for each job of the cluster, and the logs of its daemons. The
// cluster may have run before; then reports of its earlier jobs are written too.
func (r *clusterRun) collect(ctx context.Context) error {
	jobs := filepath.Join(r.out, "jobs")
	if err := os.MkdirAll(jobs, 0o755); err != nil {
		return err
	}
	err := r.cluster.EachJob(ctx, func(s *wire.JobStatus) error {
		return report.WriteFile(filepath.Join(jobs, s.JobId+".json"), apidoc.Report(s))
	})
	err = errors.Join(err, r.cluster.CollectLogs(ctx, filepath.Join(r.out, "logs")))
	if err == nil {
		fmt.Fprintf(r.stderr, "Reports of jobs and logs of daemons are in %s.\n", r.out)
	}
	return err
}

// stop stops the cluster, unless it ran before or is to stay. The program has ended, so no job
// is waited for.
func (r *clusterRun) stop(ctx context.Context) error {
	if r.keep {
		fmt.Fprintf(r.stderr, "The cluster runs; 'hammr cluster stop --hostfile %s' stops it.\n", hostfile.Word(r.hostfile))
		return nil
	}
	if err := r.cluster.Look(ctx); err != nil {
		return err
	}
	return errors.Join(r.cluster.Stop(ctx, true, 0), forgetToken(r.cluster.Plan().ClusterID))
}
