package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
)

// nodeConfig is what a tasknode is told.
type nodeConfig struct {
	name          string
	masters       []string
	dir           string
	localDirs     []string
	minFree       int64 // bytes
	diskCheck     time.Duration
	address, http string
	advertise     string
	mapSlots      int
	reduceSlots   int
	rack          string
	tokenFile     string
	clusterID     string
	heartbeat     time.Duration
	cgroup        string
	ownUser       bool
	drills        bool
	profiles      bool
	readyFile     string
	log           daemon.LogConfig
}

func (c *nodeConfig) settings() daemon.Settings {
	*c = nodeConfig{address: ":7071", http: ":7081", mapSlots: 2, reduceSlots: 1, heartbeat: time.Second, cgroup: cgroupAuto, minFree: 100 << 20, diskCheck: 10 * time.Second}
	c.name, _ = os.Hostname() // without one a name has to be given
	name := daemon.String("name", &c.name, "`name` of this tasknode among the others (default the machine's)")
	if c.name == "" {
		name = name.Required()
	}
	return append(daemon.Settings{
		name,
		daemon.Strings("masters", &c.masters, "addresses of masters, as `host:port,...`; one is enough to find the others").Required(),
		daemon.String("dir", &c.dir, "`directory` of this tasknode alone, for programs").Required(),
		daemon.Strings("local-dir", &c.localDirs, "`directories` for local files of tasks, one a disk, as a,b,... (default Hadoop's mapreduce.cluster.local.dir, else --dir)"),
		daemon.Size("min-free", &c.minFree, "`bytes` that must be left in a local directory for it to take another task, as 100m"),
		daemon.Duration("disk-check", &c.diskCheck, "`time` between two looks at the local directories"),
		daemon.String("token-file", &c.tokenFile, "`file` with the cluster's secret").Required(),
		daemon.Int("map-slots", &c.mapSlots, 0, "`number` of map tasks at once"),
		daemon.Int("reduce-slots", &c.reduceSlots, 0, "`number` of reduce tasks at once"),
		daemon.String("address", &c.address, "`host:port` where map output is fetched; a host makes this the address that HDFS sees"),
		daemon.String("http", &c.http, "`host:port` of its page of health and metrics"),
		daemon.String("advertise", &c.advertise, "`host:port` under which others reach --address (default the machine's name)"),
		daemon.String("rack", &c.rack, "`rack` of the machine, as /rack1 (default from Hadoop's topology table)"),
		daemon.String("cluster-id", &c.clusterID, "`id` of the cluster that it may join (default any)"),
		daemon.Duration("heartbeat", &c.heartbeat, "`time` between two signs of life"),
		daemon.String("cgroup", &c.cgroup, "`directory` of a control group that was given to it, to hold tasks to their memory; auto makes one where the machine allows it, none does without"),
		daemon.Bool("own-user", &c.ownUser, "as root, run tasks as root too instead of as the users whose jobs they are of"),
		daemon.Bool("drills", &c.drills, "take part in drills: whoever has the token may have it and its tasks fail from inside"),
		daemon.Bool("pprof", &c.profiles, "show Go's profiles on the page"),
		daemon.String("ready-file", &c.readyFile, "`file` to write when it has joined"),
	}, c.log.Settings()...)
}

func newTasknode() *cobra.Command {
	var cfg nodeConfig
	cmd := &cobra.Command{
		Use:   "tasknode --masters HOST:PORT,... --dir DIR --token-file FILE",
		Short: "Run tasks of a cluster on this machine",
		Long: `Run tasks of a cluster on this machine. Each setting is a flag, a variable
HAMMR_... of the environment, or a key in the file of --config; flags win over
variables, variables over keys.`,
		Example: `  hammr tasknode --masters a,b,c --dir /data/hammr --token-file /etc/hammr/token
  hammr tasknode --config /etc/hammr/tasknode.yaml --map-slots 8`,
	}
	return withSettings(cmd, cfg.settings(), func(ctx context.Context, cmd *cobra.Command) error {
		return runTasknode(ctx, cfg, cmd.ErrOrStderr())
	})
}

func runTasknode(ctx context.Context, cfg nodeConfig, stderr io.Writer) error {
	return withLogger(cfg.log, stderr, func(logger *slog.Logger) error {
		n, err := openTasknode(cfg, logger, stderr)
		if err != nil {
			return err
		}
		return n.run(ctx)
	})
}
