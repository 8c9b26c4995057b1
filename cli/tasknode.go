package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/tasknoded"
)

// tasknodeFlags are the settings of `hammr tasknode`: the settings of the daemon, and the
// settings of its log, which this package opens.
type tasknodeFlags struct {
	tasknoded.Config
	log   daemon.LogConfig
	check bool
}

// settings lists the daemon's settings with their flags. The defaults are in tasknoded.Config;
// docs/cluster.md has a row for each, which a test checks.
func (c *tasknodeFlags) settings() daemon.Settings {
	c.EnsureDefaults()
	name := daemon.String("name", &c.Name, "`name` of this tasknode, unique in the cluster (default the machine's)")
	if c.Name == "" { // the machine has no host name
		name = name.Required()
	}
	return append(daemon.Settings{
		name,
		daemon.Strings("masters", &c.Masters, "addresses of masters, as `host:port,...`; one that runs is enough").Required(),
		daemon.String("dir", &c.Dir, "`directory` for cached programs; give each tasknode its own").Required(),
		daemon.Strings("local-dir", &c.LocalDirs, "`directories` for local files of tasks, one for each disk, as a,b,... (default Hadoop's mapreduce.cluster.local.dir, else --dir)"),
		daemon.Size("min-free", &c.MinFree, "free `bytes` below which a local directory gets no more attempts, as 100m").Reloadable(),
		daemon.Duration("disk-check", &c.DiskCheck, "`time` between two checks of the local directories"),
		daemon.Duration("slow-disk", &c.SlowDisk, "`time` from which a check counts as slow; after three in a row a local directory gets no attempts until it is fast, unless all are slow"),
		daemon.String("token-file", &c.TokenFile, "`file` with the cluster's secret").Required(),
		daemon.Int("map-slots", &c.MapSlots, 0, "`number` of map tasks at once").Reloadable(),
		daemon.Int("reduce-slots", &c.ReduceSlots, 0, "`number` of reduce tasks at once").Reloadable(),
		daemon.Int("memory-mb", &c.MemoryMB, 0, "`MiB` of memory that tasks may take together (default hammr.tasknode.memory.mb, else the machine's less 1 GiB)").Reloadable(),
		daemon.String("address", &c.Address, "`host:port` of the shuffle server; a host is also the source address of connections to HDFS"),
		daemon.String("http", &c.HTTP, "`host:port` of the HTTP server for health and metrics"),
		daemon.Strings("page-hosts", &c.PageHosts, "names by which --http is reached, besides IP addresses, localhost and the names of the machine and of --advertise and --http, as `name,...`"),
		daemon.String("advertise", &c.Advertise, "`host:port` at which others reach --address (default the machine's name)"),
		daemon.String("rack", &c.Rack, "`rack` of the machine, as /rack1 (default from Hadoop's topology table)").Reloadable(),
		daemon.String("cluster-id", &c.ClusterID, "`id` of the cluster to join (default any)"),
		daemon.Duration("heartbeat", &c.Heartbeat, "`time` between two heartbeats"),
		daemon.Duration("drain-on-stop", &c.DrainOnStop, "`time` for which SIGTERM moves work to other tasknodes before the tasknode stops (default none, it stops at once)"),
		daemon.String("cgroup", &c.Cgroup, "`directory` of a control group that limits the memory of tasks; auto creates one if the machine allows it, none uses none"),
		daemon.Bool("own-user", &c.RunAsDaemonUser, "run tasks as the tasknode's user, also if that is root; without it, root runs them as the users who submitted the jobs"),
		daemon.Int("max-connections", &c.MaxConnections, 1, "`number` of connections that --address accepts at once, at most half of the process's limit of open files").Reloadable(),
		daemon.Int("max-connections-per-address", &c.MaxConnectionsPerAddress, 1, "`number` of these from one source, such as an IP address; raise it if many machines share one").Reloadable(),
		daemon.Int("min-uid", &c.MinUID, 0, "lowest `uid` of users as which root runs tasks; 0 also runs those of root"),
		daemon.Strings("banned-users", &c.BannedUsers, "`users` as which root runs no tasks"),
		daemon.Strings("task-env", &c.TaskVariables, "environment `variables` of the tasknode that tasks get, in addition to PATH, HOME, LANG and the like"),
		daemon.Size("max-program", &c.MaxProgram, "`bytes` of the largest program that may run, as 1g"),
		daemon.String("health-script", &c.HealthScript, "`program` that prints a line beginning with ERROR when the machine should get no tasks (default hammr.tasknode.health.script)").Reloadable(),
		daemon.Duration("health-interval", &c.HealthInterval, "`time` between two runs of --health-script").Reloadable(),
		daemon.Duration("health-timeout", &c.HealthTimeout, "`time` that --health-script may take").Reloadable(),
		daemon.Choice("cloud", &c.Cloud, "`cloud` whose notices that the machine will stop are watched: off, aws, gcp, azure, or auto by the firmware", tasknoded.Clouds()...),
		daemon.Strings("cloud-notices", &c.CloudNotices, "`kinds` of these notices at which the tasknode is drained: interruption, maintenance, rebalance"),
		daemon.Bool("drills", &c.Drills, "let holders of the token inject faults, also into tasks"),
		daemon.Bool("pprof", &c.Profiles, "serve Go's profiles at /debug/pprof/ of --http, for holders of the token"),
		daemon.String("ready-file", &c.ReadyFile, "`file` to write when the tasknode has joined"),
	}, c.log.Settings()...)
}

// newTasknode returns the command of a daemon. It runs until SIGTERM and then exits with 0.
// It exits with 1 if it cannot start, and with 2 for a wrong setting from any source.
func newTasknode() *cobra.Command {
	var c tasknodeFlags
	cmd := &cobra.Command{
		Use:   "tasknode --masters HOST:PORT,... --dir DIR --token-file FILE",
		Short: "Run tasks of a cluster on this machine",
		Long: `Run tasks of a cluster on this machine. Each setting is a flag, an environment
variable HAMMR_..., or a key in the file of --config; flags override variables,
and variables override keys.

SIGHUP loads the settings again. The log names each one that has changed, also
those that need a restart. If a setting is wrong, all stay as they are. If there
are fewer slots than tasks, the tasks run to their end.

SIGTERM stops it at once, and what runs is lost; with --drain-on-stop it first
moves its work to other tasknodes, as 'hammr node drain --local' does. A second
SIGTERM then stops it at once.

SIGUSR2 restarts the tasknode in place, with its present program file and
settings; its tasks continue. See 'hammr node restart --help'.`,
		Example: `  hammr tasknode --masters a,b,c --dir /data/hammr --token-file /etc/hammr/token
  hammr tasknode --config /etc/hammr/tasknode.yaml --map-slots 8`,
	}
	cmd.Flags().BoolVar(&c.check, "check", false, "check the settings, print what they are checked for as JSON, and exit")
	return withSettings(cmd, &c)
}

// again implements daemonFlags.
func (*tasknodeFlags) again() daemonFlags { return new(tasknodeFlags) }

// run implements daemonFlags: it opens the log and runs the daemon.
func (c *tasknodeFlags) run(ctx context.Context, cmd *cobra.Command, reload *daemon.Reloader) error {
	if c.check {
		return c.printCheck(cmd)
	}
	c.Starter = mainThread
	return withLogger(&c.log, cmd.ErrOrStderr(), func(logger *slog.Logger) (err error) {
		c.Logger, c.Notifier = logger, daemon.NewNotifier(logger)
		// A wrong site file must not hide wrong flags: both are reported.
		if c.Conf, err = (genericOptions{}).load(cmd.ErrOrStderr()); err != nil {
			return errors.Join(err, c.Validate())
		}
		d, err := tasknoded.Open(c.Config)
		if err != nil {
			return err
		}
		reload.Logger, reload.Notifier = logger, c.Notifier
		return reloading(ctx, reload, d, &c.Config, &c.log)
	})
}

// printCheck checks the settings and prints a tasknoded.Checked.
func (c *tasknodeFlags) printCheck(cmd *cobra.Command) (err error) {
	if c.Conf, err = (genericOptions{}).load(cmd.ErrOrStderr()); err != nil {
		return errors.Join(err, c.Validate())
	}
	checked, err := tasknoded.Check(c.Config)
	if err != nil {
		return err
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(checked)
}
