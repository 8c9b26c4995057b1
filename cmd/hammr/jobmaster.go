package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// masterConfig is what a jobmaster is told.
type masterConfig struct {
	id, clusterID string
	dir           string
	address, http string
	advertise     string
	masters       []string
	join          bool
	tokenFile     string
	staging       string
	historyDir    string
	jobLogDir     string
	retention     time.Duration
	expiry        time.Duration
	forget        time.Duration
	policy        string
	pools         []string
	allocations   string
	decisions     string
	election      time.Duration
	vote, lease   time.Duration
	stall         time.Duration
	snapshotAfter int
	snapshotEvery time.Duration
	nice          int
	storeDelay    time.Duration
	drills        bool
	profiles      bool
	readyFile     string
	log           daemon.LogConfig
}

func (c *masterConfig) settings() daemon.Settings {
	*c = masterConfig{address: ":7070", http: ":7080", forget: 24 * time.Hour, retention: 7 * 24 * time.Hour,
		stall: raftlog.DefaultWatchPatience, nice: -5,
		snapshotAfter: raftlog.DefaultSnapshotThreshold, snapshotEvery: raftlog.DefaultSnapshotInterval}
	return append(daemon.Settings{
		daemon.String("id", &c.id, "`name` of this master among the others, for ever").Required(),
		daemon.String("dir", &c.dir, "`directory` of its log, which no shuffle should write to").Required(),
		daemon.String("token-file", &c.tokenFile, "`file` with the cluster's secret").Required(),
		daemon.String("address", &c.address, "`host:port` for clients, tasknodes and other masters"),
		daemon.String("http", &c.http, "`host:port` of its page of health and metrics"),
		daemon.String("advertise", &c.advertise, "`host:port` under which others reach --address (default its entry in --masters)"),
		daemon.Strings("masters", &c.masters, "the first masters, as `id=host:port,...`, the same on each (default this one alone)"),
		daemon.Bool("join", &c.join, "begin no cluster, but wait to be added to one by 'hammr master add'"),
		daemon.String("cluster-id", &c.clusterID, "`id` of the cluster, the same on each master (default the time, for one alone)"),
		daemon.String("staging", &c.staging, "full name of the `directory` for splits and programs (default /tmp/hammr/staging on fs.defaultFS)"),
		daemon.String("history-dir", &c.historyDir, "full name of the `directory` for what is known of old jobs (default history beside --staging)"),
		daemon.String("job-log-dir", &c.jobLogDir, "full name of the `directory` for logs of tasks (default joblogs beside --staging)"),
		daemon.Duration("retention", &c.retention, "`time` that histories, logs and programs stay when no job uses them"),
		daemon.Duration("expiry", &c.expiry, "`silence` after which a tasknode is given up (default hammr.tasknode.expiry, 10 s)"),
		daemon.Duration("forget", &c.forget, "`time` for which a tasknode that was given up is remembered; one that is excluded stays"),
		daemon.String("policy", &c.policy, "`name` of the policy that gives out slots (default as the cluster has it, at first fifo)"),
		daemon.Strings("pools", &c.pools, "pools, or queues, that jobs may be put into beside default, as `name,...` (default as the cluster has them)"),
		daemon.String("allocation-file", &c.allocations, "`file` of pools, as of Hadoop's fair scheduler, that the master that leads looks at every 10 s; best the same on each"),
		daemon.String("decisions-file", &c.decisions, "`file` for what is decided about slots, as lines of JSON; it is put aside like the log's (default none)"),
		daemon.Duration("election-timeout", &c.election, "`silence` of the leader after which another is voted for (default hammr.jobmaster.heartbeat, 500 ms)"),
		daemon.Duration("vote-timeout", &c.vote, "`time` without enough votes after which they are asked for again (default --election-timeout)"),
		daemon.Duration("lease-timeout", &c.lease, "`time` without a majority after which a leader gives up (default --election-timeout)"),
		daemon.Duration("stall-timeout", &c.stall, "`time` after which a leader gives up whose log cannot be written"),
		daemon.Int("snapshot-entries", &c.snapshotAfter, 1, "`number` of entries of its log after which the state is written as a whole and older ones go"),
		daemon.Duration("snapshot-interval", &c.snapshotEvery, "`time` between two looks, up to twice as long, at whether there are so many"),
		daemon.Int("nice", &c.nice, -20, "`niceness` of the process, so that busy neighbours do not make it look dead; 0 leaves it"),
		daemon.Duration("store-delay", &c.storeDelay, "`time` by which each write to its log takes longer, to try out a slow disk"),
		daemon.Bool("drills", &c.drills, "take part in drills: whoever has the token may have it fail from inside"),
		daemon.Bool("pprof", &c.profiles, "show Go's profiles on the page"),
		daemon.String("ready-file", &c.readyFile, "`file` to write when it serves and a leader is known"),
	}, c.log.Settings()...)
}

func newJobmaster() *cobra.Command {
	var cfg masterConfig
	cmd := &cobra.Command{
		Use:   "jobmaster --id ID --dir DIR --token-file FILE [--masters ID=HOST:PORT,...]",
		Short: "Be a master of a cluster",
		Long: `Be a master of a cluster: one alone, or one of three or five that replicate
their state. Each setting is a flag, a variable HAMMR_... of the environment, or
a key in the file of --config; flags win over variables, variables over keys.`,
		Example: `  hammr jobmaster --id m1 --dir /var/lib/hammr --token-file /etc/hammr/token
  hammr jobmaster --config /etc/hammr/jobmaster.yaml
  hammr jobmaster --id m2 --masters m1=a,m2=b,m3=c --cluster-id 1763700000000 \
    --dir /var/lib/hammr --token-file /etc/hammr/token`,
	}
	return withSettings(cmd, cfg.settings(), func(ctx context.Context, cmd *cobra.Command) error {
		return runJobmaster(ctx, cfg, cmd.ErrOrStderr())
	})
}

func runJobmaster(ctx context.Context, cfg masterConfig, stderr io.Writer) error {
	return withLogger(cfg.log, stderr, func(logger *slog.Logger) error {
		m, err := openMaster(cfg, logger, stderr)
		if err != nil {
			return err
		}
		return m.run(ctx)
	})
}

// peers reads the list of the first masters.
func (c *masterConfig) peers() (peers []raftlog.Peer, err error) {
	var faults []error
	for _, entry := range c.masters {
		id, address, ok := strings.Cut(entry, "=")
		if !ok || id == "" || address == "" {
			faults = append(faults, fmt.Errorf("--masters: %q: expected id=host:port", entry))
			continue
		}
		peers = append(peers, raftlog.Peer{ID: id, Address: withDefaultPort(address, "7070")})
	}
	return peers, errors.Join(faults...)
}
