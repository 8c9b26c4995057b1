package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/sshcluster"
)

// newClusterInit reads the hostfile only; it connects to no machine. It exits with 2 for a
// hostfile that no cluster follows from.
func newClusterInit() *cobra.Command {
	f := new(sshFlags)
	cmd := &cobra.Command{
		Use:   "init --hostfile FILE",
		Short: "Print the completed hostfile, without connecting to the machines",
		Long: `Print the hostfile with the roles, ports and directories that 'hammr cluster
start' would choose. Save it as a hostfile to change some of them. A directory
that is missing in it, and the number of slots, are chosen on each machine.`,
		Example: `  hammr cluster init --hostfile hosts --staging hdfs://nn:8020/staging > plan`,
		Args:    cobra.NoArgs,
	}
	f.describe(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.prepare(); err != nil {
			return err
		}
		plan, err := sshcluster.NewPlan(f.file)
		if err == nil {
			err = plan.Validate()
		}
		if err != nil {
			return usageError{err}
		}
		fmt.Fprint(cmd.OutOrStdout(), plan.Hostfile())
		return nil
	}
	return cmd
}

// newClusterStart exits with 0 when all daemons are ready, and with 1 otherwise; then it has
// ended the daemons that it had started.
func newClusterStart() *cobra.Command {
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "start --hostfile FILE",
		Short: "Start a cluster on the machines of a hostfile",
		Long: `Start a cluster on the machines of a hostfile, and print the addresses of its
masters. The program, a secret and the settings are copied to each machine. If
the cluster runs, only its missing daemons are started; machines that are new in
the hostfile become tasknodes.

Nothing is changed if a machine does not answer or cannot be used. If a daemon
does not become ready, those that were started are ended.

Unlike 'hammr up' a tasknode of root runs tasks as the users who submit jobs;
they must exist on each machine. --set tasknode.own-user=true runs them as root.`,
		Example: `  hammr cluster start --hostfile hosts --staging hdfs://nn:8020/hammr/staging
  hammr cluster start --hostfile hosts --staging file:///nfs/hammr --dry-run`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, stdout, stderr io.Writer) error {
		begin := time.Now()
		if err := c.Start(ctx); err != nil || f.dryRun {
			return err
		}
		return f.announce(c, begin, stdout, stderr)
	}, f.actFlags, f.programFlag, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&f.drills, "drills", false, "let 'hammr chaos run' break the cluster; its pages then listen at all addresses")
	})
}

// announce prints the masters on stdout, for scripts, and how to use the cluster on stderr, as
// `hammr up --detach` does.
func (f *sshFlags) announce(c *sshcluster.Cluster, begin time.Time, stdout, stderr io.Writer) error {
	plan := c.Plan()
	masters := plan.Masters()
	// The cluster runs without the copy; commands then need another flag.
	if err := keepToken(f.tokenFile, plan.ClusterID, masters); err != nil {
		fmt.Fprintf(stderr, "Clients need --token-file %s: %v\n", hostfile.Word(f.tokenFile), err)
	}
	export := ""
	if name := plan.FileSystem(); name != "" {
		if err := plan.WriteClientConf(f.clientConf()); err != nil {
			return err
		}
		export = fmt.Sprintf("export HADOOP_CONF_DIR=%s    # %s\n", hostfile.Word(f.clientConf()), name)
	}
	fmt.Fprintln(stdout, strings.Join(masters, ","))
	fmt.Fprintf(stderr, "The cluster %s is ready after %v. To use it:\n%s%s  hammr cluster stop --hostfile %s\n",
		plan.ClusterID, time.Since(begin).Round(10*time.Millisecond), export, useText(masters, f.tokenFile), hostfile.Word(f.hostfile))
	return nil
}

// clientConf returns the configuration directory of this machine for the cluster's own HDFS. It
// lies beside the token.
func (f *sshFlags) clientConf() string {
	return strings.TrimSuffix(f.tokenFile, ".token") + ".hadoop"
}

// newClusterStop exits with 1 if jobs cannot be suspended in time; then all daemons run.
func newClusterStop() *cobra.Command {
	var now bool
	var deadline time.Duration
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "stop --hostfile FILE [--now]",
		Short: "Stop the cluster of a hostfile and keep its files",
		Long: `Stop the cluster of a hostfile and keep its files. Its jobs are suspended first:
maps are split, reduces write checkpoints, and the daemons stop when no task
runs. 'hammr cluster start' starts the cluster again and resumes the jobs. With
--now the daemons stop at once, and tasks that run then run again after the next
start.`,
		Example: `  hammr cluster stop --hostfile hosts`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, _, _ io.Writer) error {
		if err := c.Stop(ctx, now, deadline); err != nil || f.dryRun {
			return err
		}
		return forgetToken(c.Plan().ClusterID)
	}, f.actFlags, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&now, "now", false, "stop without waiting for tasks; those that run lose their work")
		cmd.Flags().DurationVar(&deadline, "deadline", 2*time.Minute, "`time` after which the command gives up if tasks still run")
	})
}

// newClusterReload exits with 1 if a daemon cannot reload; the others have the settings then.
func newClusterReload() *cobra.Command {
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "reload --hostfile FILE",
		Short: "Let the daemons of a hostfile read their settings again",
		Long: `Write the settings of the hostfile to its machines, and let the daemons read
them again. Settings that cannot change while a daemon runs are named in its
log, and apply after its next start.`,
		Example: `  hammr cluster reload --hostfile hosts --set tasknode.log-level=debug`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, _, _ io.Writer) error { return c.Reload(ctx) }, f.actFlags)
}

// newClusterUpgrade exits with 1 if a daemon cannot be replaced; the same command continues.
func newClusterUpgrade() *cobra.Command {
	var deadline time.Duration
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "upgrade --hostfile FILE [--program FILE]",
		Short: "Replace the program of all daemons while jobs run",
		Long: `Replace the program of all daemons by this one, or by that of --program, while
jobs run: first the masters that follow, then the leader after another master
leads, then each tasknode. A tasknode is drained before it is restarted, so no
task runs twice.

The same command continues an upgrade that was interrupted.`,
		Example: `  ./hammr-new cluster upgrade --hostfile hosts`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, _, stderr io.Writer) error {
		begin := time.Now()
		if err := c.Upgrade(ctx, deadline); err != nil || f.dryRun {
			return err
		}
		fmt.Fprintf(stderr, "All daemons run the new program after %v.\n", time.Since(begin).Round(10*time.Millisecond))
		return nil
	}, f.actFlags, f.programFlag, func(cmd *cobra.Command) {
		cmd.Flags().DurationVar(&deadline, "deadline", 5*time.Minute, "`time` after which the command gives up if a tasknode is not empty")
	})
}
