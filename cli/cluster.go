package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// newCluster returns the verbs for a cluster on machines that ssh reaches. They work on all
// machines of a hostfile; commands for a cluster that runs, such as `hammr node`, ask its
// masters only.
func newCluster() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cluster",
		Short: "Run a cluster on the machines of a hostfile, over ssh",
		Long: `Run a cluster on the machines of a hostfile, over ssh. A list of host names is
enough: which machines have a jobmaster, and all ports and directories, are
chosen and printed. The machines need sshd and a POSIX shell; the program is
copied to them. ssh must not ask for a password.

The same command again continues one that was interrupted.`,
		Example: `  printf '%s\n' a1 a2 a3 a4 a5 > hosts
  hammr cluster start --hostfile hosts --staging hdfs://nn:8020/hammr/staging
  hammr cluster status --hostfile hosts
  hammr cluster stop --hostfile hosts`,
	}, newClusterInit(), newClusterStart(), newClusterStop(), newClusterStatus(), newClusterRun(), newClusterReload(), newClusterUpgrade(), newClusterDoctor())
}

// sshFlags are the flags that say which machines a command works on, and how it reaches them.
type sshFlags struct {
	hostfile, shell, tokenFile string
	// Options of the hostfile's lines that begin with a star; "" if not given.
	dir, staging, masters, hadoopConf string
	settings                          []string // ROLE.NAME=VALUE
	hdfs                              bool     // the machines have an HDFS of their own
	drills                            bool     // the daemons take part in drills
	program                           string   // "" for this one
	timeout                           time.Duration
	dryRun                            bool

	file    hostfile.File // set by prepare
	jobUser string        // user of the jobs that the command submits, "" for none
}

// sshCommand returns a command that works on the machines of a hostfile. It adds the shared
// flags and those of more, and opens the cluster for run.
func sshCommand(cmd *cobra.Command, f *sshFlags, run func(ctx context.Context, c *sshcluster.Cluster, stdout, stderr io.Writer) error, more ...func(*cobra.Command)) *cobra.Command {
	f.describe(cmd)
	for _, add := range more {
		add(cmd)
	}
	cmd.Args = cobra.NoArgs
	cmd.RunE = interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		return f.with(ctx, cmd, run)
	})
	return cmd
}

// clusterDir says where the files of a cluster are if nothing names a directory.
const clusterDir = "/var/lib/hammr-cluster for root, else /var/tmp/hammr-USER"

// describeMachines adds the flags that say which machines there are and how they are reached.
func (f *sshFlags) describeMachines(cmd *cobra.Command, defaultDir string) {
	flags := cmd.Flags()
	flags.StringVar(&f.hostfile, "hostfile", "", "`file` with a machine on each line; see docs/formats/hostfile.md")
	flags.StringVar(&f.shell, "shell", hostfile.DefaultShell, "`command` that runs its last argument on a machine; {host} is the machine in the hostfile")
	flags.StringVar(&f.dir, "dir", "", "`directory` on each machine; {host} is its name (default "+defaultDir+")")
}

// describeStart adds the flags of what starts daemons on the machines.
func (f *sshFlags) describeStart(cmd *cobra.Command, defaultDir string) {
	f.describeMachines(cmd, defaultDir)
	flags := cmd.Flags()
	flags.StringVar(&f.staging, "staging", "", "full name of the `directory` for splits and programs, which all machines see")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "`time` for the start or the end of a daemon")
}

// describe adds the flags that say what a cluster consists of.
func (f *sshFlags) describe(cmd *cobra.Command) {
	f.describeStart(cmd, clusterDir)
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` of this machine with the cluster's secret, made if necessary (default the hostfile's name and .token)")
	flags.StringVar(&f.masters, "masters", "", "`number` of jobmasters: 1, 3 or 5 (default 3, or 1 on fewer than 3 machines)")
	flags.StringVar(&f.hadoopConf, "hadoop-conf", "", "`directory` of Hadoop's configuration on each machine")
	flags.StringArrayVar(&f.settings, "set", nil, "`setting` of all daemons of a role, such as tasknode.min-free=1g; repeatable")
	flags.BoolVar(&f.hdfs, "with-hdfs", false, "run an HDFS on the machines, for benchmarks: a DataNode beside each tasknode; needs Java there")
	required(cmd, "hostfile")
}

// actFlags adds the flags of commands that change something.
func (f *sshFlags) actFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "look at the machines and print the commands, but change nothing")
}

// programFlag adds the flag of commands that copy the program.
func (f *sshFlags) programFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.program, "program", "", "`file` of the program hammr for the machines (default this one)")
}

// prepare reads the hostfile, and adds the options that flags give.
func (f *sshFlags) prepare() error {
	text, err := os.ReadFile(f.hostfile)
	if err != nil {
		return usageError{fmt.Errorf("--hostfile: %w", err)}
	}
	if f.file, err = hostfile.Parse(f.hostfile, text); err != nil {
		return usageError{err}
	}
	if f.file.Cluster == nil { // the file lists daemons, which the plan refuses
		f.file.Cluster = make(map[string]string)
	}
	var errs []error
	for flag, given := range map[string]string{hostfile.Dir: f.dir, hostfile.Staging: f.staging, hostfile.Masters: f.masters, hostfile.HadoopConf: f.hadoopConf} {
		if given == "" {
			continue
		}
		if err := hostfile.CheckOption(flag, given, true); err != nil {
			errs = append(errs, fmt.Errorf("--%w", err))
		}
		f.file.Cluster[flag] = given
	}
	if f.hdfs {
		f.file.Cluster[hostfile.HDFS] = "true"
	}
	if f.drills {
		f.settings = append(f.settings, "jobmaster.drills=true", "tasknode.drills=true")
	}
	for _, setting := range f.settings {
		role, name, value, err := hostfile.ParseSetting(setting)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.ContainsAny(value, " \t\n#") {
			errs = append(errs, fmt.Errorf("--set %s: a value in a hostfile has no blanks and no #", setting))
		}
		f.file.Cluster[role+"."+name] = value
	}
	if len(strings.Fields(f.shell)) == 0 {
		errs = append(errs, errors.New("--shell is empty"))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}

// with opens the cluster and calls run.
func (f *sshFlags) with(ctx context.Context, cmd *cobra.Command, run func(ctx context.Context, c *sshcluster.Cluster, stdout, stderr io.Writer) error) error {
	if err := f.prepare(); err != nil {
		return err
	}
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	cfg, err := f.config(stdout, stderr)
	if err != nil {
		return err
	}
	if _, err := sshcluster.NewPlan(f.file); err != nil {
		return usageError{err}
	}
	c, err := sshcluster.Open(ctx, cfg)
	if err != nil {
		return err
	}
	err = errors.Join(run(ctx, c, stdout, stderr), c.Close())
	if ctx.Err() != nil { // interruptible prints nothing then
		fmt.Fprintf(stderr, "Interrupted; 'hammr cluster status --hostfile %s' shows what runs. Repeat the command to continue.\n", hostfile.Word(f.hostfile))
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(stderr, err)
		}
	}
	return err
}

// config returns the configuration for package sshcluster.
func (f *sshFlags) config(stdout, stderr io.Writer) (cfg sshcluster.Config, err error) {
	if f.program == "" {
		if f.program, err = ownProgram(); err != nil {
			return cfg, err
		}
	}
	if f.tokenFile == "" {
		f.tokenFile = f.hostfile + ".token"
	}
	if f.tokenFile, err = filepath.Abs(f.tokenFile); err != nil {
		return cfg, err
	}
	var lines sync.Mutex
	cfg = sshcluster.Config{
		File: f.file, Shell: strings.Fields(f.shell), Program: f.program, TokenFile: f.tokenFile, Timeout: f.timeout, Check: checkDaemon,
		JobUser: f.jobUser,
		Progress: func(host, text string) {
			lines.Lock()
			defer lines.Unlock()
			fmt.Fprintf(stderr, "%s: %s\n", host, text)
		},
		Connect: func(masters []string, token string) (sshcluster.Admin, error) {
			return remote.New(remote.Config{Config: rpc.Config{Masters: masters, Token: token, Timeout: f.timeout}})
		},
	}
	if f.dryRun {
		fmt.Fprintf(stdout, "# Each script begins with these functions:\n%s\n", sshcluster.Functions())
		cfg.DryRun = stdout
	}
	return cfg, nil
}

// checkDaemon checks settings of a daemon as the daemon does when it starts.
func checkDaemon(role string, values map[string]string) error {
	c := newDaemonConfig(role)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known := slices.ContainsFunc(c.Settings(), func(s daemon.Setting) bool { return s.Name == name })
		if !known {
			errs = append(errs, fmt.Errorf("no setting %q; 'hammr %s --help' lists them", name, role))
		}
	}
	return errors.Join(append(errs, daemon.Load(c, daemon.Sources{Flags: values}))...)
}

// newDaemonConfig returns an empty configuration of a role.
func newDaemonConfig(role string) daemon.Config {
	if role == hostfile.Jobmaster {
		return new(masterd.Config)
	}
	return new(tasknoded.Config)
}
