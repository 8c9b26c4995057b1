package tasknoded

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/notice"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/rpc"
)

// Default ports of a tasknode.
const (
	defaultPort     = "7071"
	defaultPagePort = "7081"
)

// Values of Config.Cgroup that are not directories.
const (
	CgroupAuto = "auto" // the tasknode makes its own group if the machine allows that
	CgroupNone = "none" // no group: the tasknode measures the memory of tasks itself
)

// Config says how a tasknode runs. Settings declares its fields, with their defaults. A comment here
// says what the usage of the setting does not.
type Config struct {
	// Common has the address of the shuffle server: if it has a host, connections to HDFS come from
	// that address. Others read health and logs there if HTTP is a loopback address. The tasknode
	// sets hammr.hdfs.local.address in Conf.
	daemon.Common
	Name      string // unique in the cluster
	LocalDirs []string
	MinFree   int64 // bytes
	DiskCheck time.Duration
	// SlowDisk is how long a check may take before it counts as slow. A local directory with
	// several slow checks in a row gets no more attempts as long as another is fast.
	SlowDisk time.Duration
	// MapSlots and ReduceSlots are how many tasks of each kind run at once; one of the two
	// may be 0.
	MapSlots, ReduceSlots int
	// MemoryMB is how much memory its tasks may take together, in MiB: no task starts if the
	// limits of all tasks (mapreduce.map.memory.mb, mapreduce.reduce.memory.mb) would exceed it.
	MemoryMB  int
	Rack      string
	Heartbeat time.Duration
	// DrainOnStop bounds how long work is moved to other tasknodes when ctx ends, before the tasknode
	// stops. With 0 it stops at once, and what runs is lost.
	DrainOnStop time.Duration
	// Cgroup is CgroupAuto, CgroupNone, or the directory of a control group that limits the
	// memory of tasks.
	Cgroup string
	// RunAsDaemonUser runs tasks as the daemon's user. Without it, a daemon that runs as
	// root runs tasks as the users who submitted the jobs.
	RunAsDaemonUser bool
	// MinUID is the lowest uid of users as which a tasknode that runs as root runs tasks. With
	// 0 it also runs tasks of root.
	MinUID int
	// BannedUsers are users as which a tasknode that runs as root runs no tasks: by default those of
	// Hadoop's daemons.
	BannedUsers   []string
	TaskVariables []string
	MaxProgram    int64 // bytes
	// HealthScript is a program that prints a line that begins with ERROR if the machine should
	// get no tasks. Its default interval and timeout are Hadoop's.
	HealthScript                  string
	HealthInterval, HealthTimeout time.Duration
	// Cloud is the cloud in which the machine runs, one of Clouds: the tasknode is drained when
	// its metadata service says that the machine will stop.
	Cloud string
	// CloudNotices are the kinds of notices to drain at, of notice.Kinds.
	CloudNotices []string

	// Starter is that of the main thread, if SIGUSR2 may replace the program of this process; see
	// procfs.ServeMainThread. Default none, and the program cannot be replaced.
	Starter *procfs.Starter
}

// Settings lists the settings of a tasknode. docs/cluster.md has a row for each, which a test checks.
func (c *Config) Settings() daemon.Settings {
	host, _ := os.Hostname() // a name is required where there is none
	// A machine has one connection for each stream that its tasks read or write here.
	const perAddress = 8192
	return append(daemon.Settings{
		daemon.String("name", &c.Name, host, "`name` of this tasknode, unique in the cluster (default the machine's)").Required(),
		daemon.Strings("masters", &c.Masters, nil, "addresses of masters, as `host:port,...`; one that runs is enough").Required().Check(checkMaster),
		daemon.String("dir", &c.Dir, "", "`directory` for cached programs; give each tasknode its own").Required(),
		daemon.Strings("local-dir", &c.LocalDirs, nil, "`directories` for local files of tasks, one for each disk, as a,b,... (default Hadoop's mapreduce.cluster.local.dir, else --dir)"),
		daemon.Size("min-free", &c.MinFree, 100<<20, 0, "free `bytes` below which a local directory gets no more attempts, as 100m").Reloadable(),
		daemon.Duration("disk-check", &c.DiskCheck, 10*time.Second, "`time` between two checks of the local directories"),
		daemon.Duration("slow-disk", &c.SlowDisk, 5*time.Second, "`time` from which a check counts as slow; after three in a row a local directory gets no attempts until it is fast, unless all are slow"),
		daemon.Int("map-slots", &c.MapSlots, 2, 0, "`number` of map tasks at once").Reloadable(),
		daemon.Int("reduce-slots", &c.ReduceSlots, 1, 0, "`number` of reduce tasks at once").Reloadable(),
		daemon.Int("memory-mb", &c.MemoryMB, 0, 0, "`MiB` of memory that tasks may take together (default hammr.tasknode.memory.mb, else the machine's less 1 GiB)").Reloadable(),
		daemon.String("address", &c.Address, ":"+defaultPort, "`host:port` of the shuffle server; a host is also the source address of connections to HDFS"),
		daemon.String("http", &c.HTTP, "127.0.0.1:"+defaultPagePort, "`host:port` of the HTTP server for health and metrics"),
		daemon.Strings("page-hosts", &c.PageHosts, nil, "names by which --http is reached, besides IP addresses, localhost and the names of the machine and of --advertise and --http, as `name,...`"),
		daemon.String("advertise", &c.Advertise, "", "`host:port` at which others reach --address (default the machine's name)"),
		daemon.String("rack", &c.Rack, "", "`rack` of the machine, as /rack1 (default from Hadoop's topology table)").Reloadable(),
		daemon.String("cluster-id", &c.ClusterID, "", "`id` of the cluster to join (default any)"),
		daemon.Duration("heartbeat", &c.Heartbeat, time.Second, "`time` between two heartbeats"),
		daemon.Duration("drain-on-stop", &c.DrainOnStop, 0, "`time` for which SIGTERM moves work to other tasknodes before the tasknode stops (default none, it stops at once)"),
		daemon.String("cgroup", &c.Cgroup, CgroupAuto, "`directory` of a control group that limits the memory of tasks; auto creates one if the machine allows it, none uses none"),
		daemon.Bool("own-user", &c.RunAsDaemonUser, "run tasks as the tasknode's user, also if that is root; without it, root runs them as the users who submitted the jobs"),
		daemon.Int("min-uid", &c.MinUID, 1000, 0, "lowest `uid` of users as which root runs tasks; 0 also runs those of root").Check(checkUID),
		daemon.Strings("banned-users", &c.BannedUsers, []string{"hdfs", "yarn", "mapred", "bin"}, "`users` as which root runs no tasks"),
		daemon.Strings("task-env", &c.TaskVariables, nil, "environment `variables` of the tasknode that tasks get, in addition to PATH, HOME, LANG and the like"),
		daemon.Size("max-program", &c.MaxProgram, 1<<30, 0, "`bytes` of the largest program that may run, as 1g"),
		daemon.String("health-script", &c.HealthScript, "", "`program` that prints a line beginning with ERROR when the machine should get no tasks (default hammr.tasknode.health.script)").Reloadable(),
		daemon.Duration("health-interval", &c.HealthInterval, 10*time.Minute, "`time` between two runs of --health-script").Reloadable(),
		daemon.Duration("health-timeout", &c.HealthTimeout, 20*time.Minute, "`time` that --health-script may take").Reloadable(),
		daemon.Choice("cloud", &c.Cloud, CloudOff, "`cloud` whose notices that the machine will stop are watched: off, aws, gcp, azure, or auto by the firmware", Clouds()...),
		daemon.Strings("cloud-notices", &c.CloudNotices, []string{string(notice.Interruption), string(notice.Maintenance)}, "`kinds` of these notices at which the tasknode is drained: interruption, maintenance, rebalance").Check(daemon.OneOf(notice.Kinds()...)),
		daemon.Bool("drills", &c.Drills, "let holders of the token inject faults, also into tasks"),
		daemon.String("ready-file", &c.ReadyFile, "", "`file` to write when the tasknode has joined"),
	}, c.Common.Settings(perAddress)...)
}

// EnsureDefaults sets zero fields to their defaults, if the default is the same on every
// machine. Call it before you set other fields: a 0 that is set afterwards, such as MinFree,
// stays 0.
func (c *Config) EnsureDefaults() { c.Settings().EnsureDefaults() }

// Validate reports every error of the configuration at once. It reads no files.
func (c *Config) Validate() error {
	return errors.Join(
		c.Settings().Validate(),
		validate.That(c.MaxProgram > 0, "--max-program has to be above 0"),
		validate.That(c.MapSlots+c.ReduceSlots > 0, "--map-slots and --reduce-slots: both are 0, there would be nothing to run"),
	)
}

func checkUID(text string) error {
	if n, err := strconv.ParseUint(text, 10, 64); err != nil || n > math.MaxUint32 {
		return errors.New("no uid")
	}
	return nil
}

func checkMaster(address string) error {
	_, err := rpc.ParseMasters(address)
	return err
}

// noticeKinds returns the kinds of CloudNotices.
func (c *Config) noticeKinds() []notice.Kind {
	kinds := make([]notice.Kind, len(c.CloudNotices))
	for i, kind := range c.CloudNotices {
		kinds[i] = notice.Kind(kind)
	}
	return kinds
}

// Local returns the directories for local files of tasks; site is the site's configuration, nil if it is
// not known.
func (c *Config) Local(site *conf.Conf) []string {
	if len(c.LocalDirs) > 0 {
		return c.LocalDirs
	}
	if site != nil && len(site.Strings(conf.LocalDir)) > 0 {
		return site.Strings(conf.LocalDir)
	}
	return []string{c.Dir}
}

// Addresses returns the addresses of the masters with their ports; none if Validate reports an error.
func (c *Config) Addresses() []string {
	addresses, _ := rpc.ParseMasters(strings.Join(c.Masters, ","))
	return addresses
}
