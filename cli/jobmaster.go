package cli

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/masterd"
)

// jobmasterFlags are the settings of `hammr jobmaster`: the settings of the daemon, and the
// settings of its logs, which this package opens.
type jobmasterFlags struct {
	masterd.Config
	decisionsFile string
	log           daemon.LogConfig
}

// settings lists the daemon's settings with their flags. The defaults are in masterd.Config;
// docs/cluster.md has a row for each, which a test checks.
func (c *jobmasterFlags) settings() daemon.Settings {
	c.EnsureDefaults()
	return append(daemon.Settings{
		daemon.String("id", &c.ID, "`name` of this master, unique and permanent").Required(),
		daemon.String("dir", &c.Dir, "`directory` of the master's log, on a disk without shuffle files").Required(),
		daemon.String("token-file", &c.TokenFile, "`file` with the cluster's secret").Required(),
		daemon.String("address", &c.Address, "`host:port` for clients, tasknodes and other masters"),
		daemon.String("http", &c.HTTP, "`host:port` of the HTTP server for the pages, the API, health and metrics"),
		daemon.String("advertise", &c.Advertise, "`host:port` at which others reach --address (default its entry in --masters)"),
		daemon.Strings("masters", &c.Masters, "first masters of a new cluster, as `id=host:port,...`, the same on each (default this one alone)"),
		daemon.Bool("join", &c.Join, "wait for 'hammr master add' instead of starting a cluster"),
		daemon.String("cluster-id", &c.ClusterID, "`id` of the cluster, a number, the same on each master (default the time, for a single master)"),
		daemon.String("staging", &c.Staging, "full name of the `directory` for splits and programs (default /tmp/hammr/staging on fs.defaultFS)"),
		daemon.String("history-dir", &c.HistoryDir, "full name of the `directory` for job histories (default history next to --staging)"),
		daemon.String("job-log-dir", &c.JobLogDir, "full name of the `directory` for logs of tasks (default joblogs next to --staging)"),
		daemon.Duration("retention", &c.Retention, "`time` to keep histories, logs and unused programs").Reloadable(),
		daemon.Int("keep-jobs", &c.KeepJobs, 1, "`number` of finished jobs that 'hammr job list --all' shows from memory").Reloadable(),
		daemon.Int("keep-tasks", &c.KeepTasks, 1, "`number` of tasks of finished jobs to keep in memory while job histories cannot be written").Reloadable(),
		daemon.Duration("expiry", &c.TasknodeExpiry, "`silence` after which a tasknode is lost (default hammr.tasknode.expiry, 10 s)").Reloadable(),
		daemon.Duration("forget", &c.TasknodeForget, "`time` to remember a lost tasknode, unless it was removed by 'hammr node remove'").Reloadable(),
		daemon.String("policy", &c.Policy, "`name` of the scheduling policy (default the cluster's own, initially fifo)"),
		daemon.Strings("pools", &c.Pools, "pools that jobs may be put into in addition to default, as `name,...` (default the cluster's own)"),
		daemon.String("allocation-file", &c.AllocationFile, "`file` of pools in the format of Hadoop's fair scheduler, checked by the leader every 10 s; use the same on each master").Reloadable(),
		daemon.String("decisions-file", &c.decisionsFile, "`file` for scheduling decisions as lines of JSON, rotated like the log (default none)"),
		daemon.Duration("election-timeout", &c.ElectionTimeout, "`silence` of the leader that starts an election (default hammr.jobmaster.election.timeout, 500 ms)"),
		daemon.Duration("vote-timeout", &c.VoteTimeout, "`time` a candidate waits for votes (default --election-timeout)"),
		daemon.Duration("lease-timeout", &c.LeaderLease, "`time` without a majority after which a leader steps down (default --election-timeout)"),
		daemon.Duration("stall-timeout", &c.StallTimeout, "`time` without a commit after which a leader steps down"),
		daemon.Int("snapshot-entries", &c.SnapshotEntries, 1, "`number` of log entries after which a snapshot is taken"),
		daemon.Duration("snapshot-interval", &c.SnapshotInterval, "shortest `time` between two checks of --snapshot-entries; the longest is twice that"),
		daemon.Int("nice", &c.Nice, -20, "`niceness` of the process; below 0, other processes delay it less; 0 does not change it"),
		daemon.Duration("store-delay", &c.StoreDelay, "`time` added to each write to the log, to simulate a slow disk"),
		daemon.Int("max-connections", &c.MaxConnections, 1, "`number` of connections that --address accepts at once, at most half of the process's limit of open files").Reloadable(),
		daemon.Int("max-connections-per-address", &c.MaxConnectionsPerAddress, 1, "`number` of these from one source, such as an IP address; raise it if many machines share one").Reloadable(),
		daemon.Int("user-submission-rate", &c.UserSubmissionRate, 0, "`number` of jobs that a user may submit in a second; 0 for any").Reloadable(),
		daemon.Int("user-submission-burst", &c.UserSubmissionBurst, 1, "`number` of jobs that a user may submit at once").Reloadable(),
		daemon.Int("user-call-rate", &c.UserCallRate, 0, "`number` of other calls that a user may make in a second; 0 for any").Reloadable(),
		daemon.Int("user-call-burst", &c.UserCallBurst, 1, "`number` of other calls that a user may make at once").Reloadable(),
		daemon.Bool("drills", &c.Drills, "let holders of the token inject faults"),
		daemon.Bool("anonymous-readers", &c.AnonymousReaders, "let browsers without the token view the pages; logs and changes need it"),
		daemon.Strings("page-hosts", &c.PageHosts, "names by which browsers reach the pages, besides IP addresses, localhost and the names of the machine and of --advertise and --http, as `name,...`"),
		daemon.String("yarn-scheduler", &c.YarnScheduler, "`shape` of /ws/v1/cluster/scheduler: fair, capacity or fifo (default by the policy)"),
		daemon.Strings("notification-networks", &c.NotificationNetworks, "`networks` that jobs may name for their end notification although they are of this machine or link-local, as 127.0.0.1/32"),
		daemon.String("http-base", &c.PageBase, "`path` below which browsers see the pages, as /hammr/ behind a proxy"),
		daemon.Strings("http-proxies", &c.PageProxies, "`networks` of proxies whose X-Forwarded-Proto and X-Forwarded-For count, as 10.0.0.0/24; with https, cookies need TLS"),
		daemon.Bool("pprof", &c.Profiles, "serve Go's profiles at /debug/pprof/ of --http, for holders of the token"),
		daemon.String("ready-file", &c.ReadyFile, "`file` to write when the master serves and knows a leader"),
	}, c.log.Settings()...)
}

// newJobmaster returns the command of a daemon. It runs until SIGTERM and then exits with 0.
// It exits with 1 if it cannot start or cannot continue, and with 2 for a wrong setting from
// any source.
func newJobmaster() *cobra.Command {
	var c jobmasterFlags
	cmd := &cobra.Command{
		Use:   "jobmaster --id ID --dir DIR --token-file FILE [--masters ID=HOST:PORT,...]",
		Short: "Run a master of a cluster",
		Long: `Run a master of a cluster: a single one, or one of three or five that replicate
their state. Each setting is a flag, an environment variable HAMMR_..., or a key
in the file of --config; flags override variables, and variables override keys.

SIGHUP loads the settings again. The log names each one that has changed, also
those that need a restart. If a setting is wrong, all stay as they are.`,
		Example: `  hammr jobmaster --id m1 --dir /var/lib/hammr --token-file /etc/hammr/token
  hammr jobmaster --config /etc/hammr/jobmaster.yaml
  hammr jobmaster --id m2 --masters m1=a,m2=b,m3=c --cluster-id 1763700000000 \
    --dir /var/lib/hammr --token-file /etc/hammr/token`,
	}
	return withSettings(cmd, &c)
}

// again implements daemonFlags.
func (*jobmasterFlags) again() daemonFlags { return new(jobmasterFlags) }

// run implements daemonFlags: it opens the logs and runs the daemon.
func (c *jobmasterFlags) run(ctx context.Context, cmd *cobra.Command, reload *daemon.Reloader) error {
	return withLogger(&c.log, cmd.ErrOrStderr(), func(logger *slog.Logger) (err error) {
		c.Logger, c.Version, c.Notifier = logger, buildVersion(), daemon.NewNotifier(logger)
		// A wrong site file must not hide wrong flags: both are reported.
		if c.Conf, err = (genericOptions{}).load(cmd.ErrOrStderr()); err != nil {
			return errors.Join(err, c.Validate())
		}
		if c.decisionsFile != "" {
			if c.Decisions, err = c.log.Rotated("decisions-file", c.decisionsFile); err != nil {
				return err
			}
		}
		d, err := masterd.Open(c.Config)
		if err != nil {
			return err
		}
		reload.Logger, reload.Notifier = logger, c.Notifier
		return reloading(ctx, reload, d, &c.Config, &c.log)
	})
}

// buildVersion returns the version that clients receive: the release, or the version that Go
// records of the main module; "" means unknown.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
