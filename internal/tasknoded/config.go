package tasknoded

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/notice"
	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/validate"
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

// Config says how a tasknode runs. Errors name its fields by the flags of `hammr
// tasknode`.
type Config struct {
	// Name is unique in the cluster. Default the machine's host name.
	Name string
	// Masters are addresses of masters, host:port; one running master is enough. Required.
	Masters []string
	// Dir is a directory that only this tasknode uses; it contains programs. Required.
	Dir string
	// LocalDirs are directories for local files of tasks, one for each disk. Default
	// mapreduce.cluster.local.dir of Conf; if that is not set, Dir.
	LocalDirs []string
	// MinFree is the free space in bytes below which a local directory gets no more
	// attempts. Default 100 MiB.
	MinFree int64
	// DiskCheck is the time between two checks of the local directories. Default 10 s.
	DiskCheck time.Duration
	// SlowDisk is how long a check may take before it counts as slow. A local directory with
	// several slow checks in a row gets no more attempts as long as another is fast. Default 5 s.
	SlowDisk time.Duration
	// Address is the host:port of the shuffle server. If it has a host, connections to HDFS
	// come from that address. Default ":7071".
	Address string
	// HTTP is the host:port of the page of health, metrics and logs. Default "127.0.0.1:7081".
	// Others read health and logs at Address if HTTP is a loopback address.
	HTTP string
	// PageHosts are names by which HTTP is reached, besides localhost, IP addresses, and the names of the
	// machine, Advertise and HTTP. Default none.
	PageHosts []string
	// Advertise is the host:port at which others reach Address. Default the address at which
	// it listens; if it listens on all addresses, the machine's name and the port.
	Advertise string
	// MapSlots and ReduceSlots are how many tasks of each kind run at once; one of the two
	// may be 0. Default 2 and 1.
	MapSlots, ReduceSlots int
	// MemoryMB is how much memory its tasks may take together, in MiB: no task starts if the
	// limits of all tasks (mapreduce.map.memory.mb, mapreduce.reduce.memory.mb) would exceed it.
	// Default hammr.tasknode.memory.mb of Conf; if that is 0, the machine's memory less 1 GiB.
	MemoryMB int
	// Rack is the rack of the machine, for example /rack1. Default from the topology table
	// or script of Conf (net.topology.*).
	Rack string
	// TokenFile has the cluster's secret. Required.
	TokenFile string
	// ClusterID is the id of the cluster that the tasknode may join. Default any cluster.
	ClusterID string
	// Heartbeat is the time between two heartbeats. Default 1 s.
	Heartbeat time.Duration
	// DrainOnStop bounds how long work is moved to other tasknodes when ctx ends, before the tasknode
	// stops. Default 0: it stops at once, and what runs is lost.
	DrainOnStop time.Duration
	// Cgroup is CgroupAuto, CgroupNone, or the directory of a control group that limits the
	// memory of tasks. Default CgroupAuto.
	Cgroup string
	// RunAsDaemonUser runs tasks as the daemon's user. Default false: a daemon that runs as
	// root runs tasks as the users who submitted the jobs.
	RunAsDaemonUser bool
	// MaxConnections bounds the open connections of Address. At most half of the files that
	// the process may open are used for them. Default 16384.
	MaxConnections int
	// MaxConnectionsPerAddress bounds the connections of Address from one source; see httpserver.SourceOf.
	// Default 8192.
	MaxConnectionsPerAddress int
	// MinUID is the lowest uid of users as which a tasknode that runs as root runs tasks. With
	// 0 it also runs tasks of root. Default 1000.
	MinUID int
	// BannedUsers are users as which a tasknode that runs as root runs no tasks. Default
	// those of Hadoop's daemons.
	BannedUsers []string
	// TaskVariables are environment variables of the tasknode that tasks get too. Default
	// none in addition to those that every task gets.
	TaskVariables []string
	// MaxProgram is the largest program that the tasknode runs, in bytes. Default 1 GiB.
	MaxProgram int64
	// HealthScript is a program that prints a line that begins with ERROR if the machine should
	// get no tasks. Default hammr.tasknode.health.script of Conf; if that is not set, none.
	HealthScript string
	// HealthInterval is the time between two runs of HealthScript. Default 10 min, as in
	// Hadoop.
	HealthInterval time.Duration
	// HealthTimeout is how long HealthScript may take. Default 20 min, as in Hadoop.
	HealthTimeout time.Duration
	// Cloud is the cloud in which the machine runs, one of Clouds: the tasknode is drained when
	// its metadata service says that the machine will stop. Default CloudOff.
	Cloud string
	// CloudNotices are the kinds of notices to drain at, of notice.Kinds. Default interruption and
	// maintenance.
	CloudNotices []string
	// Drills lets holders of the token inject faults, also into tasks. Default false.
	Drills bool
	// Profiles shows Go's profiles on the page. Default false.
	Profiles bool
	// Starter is that of the main thread, if SIGUSR2 may replace the program of this process; see
	// procfs.ServeMainThread. Default none, and the program cannot be replaced.
	Starter *procfs.Starter
	// ReadyFile is written when the tasknode has joined a cluster. Default none.
	ReadyFile string
	// Notifier informs the service manager. Default none.
	Notifier *daemon.Notifier
	// Conf is the site's configuration. The tasknode sets
	// hammr.hdfs.local.address in it. Default conf.New().
	Conf *conf.Conf
	// Logger takes the daemon's log. Default none.
	Logger *slog.Logger
}

// EnsureDefaults sets zero fields to their defaults, if the default is the same on every
// machine. Call it before you set other fields: a 0 that is set afterwards, such as MinFree,
// stays 0.
func (c *Config) EnsureDefaults() {
	if c.Name == "" {
		c.Name, _ = os.Hostname() // Validate reports a missing name
	}
	c.MinFree = cmp.Or(c.MinFree, 100<<20)
	c.DiskCheck = cmp.Or(c.DiskCheck, 10*time.Second)
	c.SlowDisk = cmp.Or(c.SlowDisk, 5*time.Second)
	c.Address = cmp.Or(c.Address, ":"+defaultPort)
	c.HTTP = cmp.Or(c.HTTP, "127.0.0.1:"+defaultPagePort)
	c.MapSlots = cmp.Or(c.MapSlots, 2)
	c.ReduceSlots = cmp.Or(c.ReduceSlots, 1)
	c.Heartbeat = cmp.Or(c.Heartbeat, time.Second)
	c.Cgroup = cmp.Or(c.Cgroup, CgroupAuto)
	c.MaxConnections = cmp.Or(c.MaxConnections, 16384)
	// A machine has one connection for each stream that its tasks read or write here.
	c.MaxConnectionsPerAddress = cmp.Or(c.MaxConnectionsPerAddress, 8192)
	c.MinUID = cmp.Or(c.MinUID, 1000)
	if c.BannedUsers == nil {
		c.BannedUsers = []string{"hdfs", "yarn", "mapred", "bin"}
	}
	c.HealthInterval = cmp.Or(c.HealthInterval, 10*time.Minute)
	c.HealthTimeout = cmp.Or(c.HealthTimeout, 20*time.Minute)
	c.MaxProgram = cmp.Or(c.MaxProgram, 1<<30)
	c.Cloud = cmp.Or(c.Cloud, CloudOff)
	if c.CloudNotices == nil {
		c.CloudNotices = []string{string(notice.Interruption), string(notice.Maintenance)}
	}
}

// limits returns the limits of connections to Address.
func (c *Config) limits() daemon.Limits {
	return daemon.Limits{Total: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress, Remedy: "--max-connections-per-address", Logger: c.Logger}
}

// Validate reports every error of the configuration at once. It reads no files.
func (c *Config) Validate() error {
	errs := []error{
		validate.That(c.Name != "", "--name is missing"),
		validate.That(c.Dir != "", "--dir is missing"),
		validate.That(c.TokenFile != "", "--token-file is missing"),
		validate.That(len(c.Masters) > 0, "--masters is missing"),
		validate.That(c.MinUID >= 0 && int64(c.MinUID) <= math.MaxUint32, "--min-uid %d: no uid", c.MinUID),
		validate.That(c.MaxProgram > 0, "--max-program has to be above 0"),
		validate.That(c.MapSlots+c.ReduceSlots > 0, "--map-slots and --reduce-slots: both are 0, there would be nothing to run"),
		validate.That(c.DrainOnStop >= 0, "--drain-on-stop %v is negative", c.DrainOnStop),
		validate.That(c.MemoryMB >= 0, "--memory-mb %d is negative", c.MemoryMB),
	}
	if c.Cloud != "" && !slices.Contains(Clouds(), c.Cloud) {
		errs = append(errs, fmt.Errorf("--cloud %s: expected one of %s", c.Cloud, strings.Join(Clouds(), ", ")))
	}
	for _, kind := range c.CloudNotices {
		if !slices.Contains(notice.Kinds(), kind) {
			errs = append(errs, fmt.Errorf("--cloud-notices %s: expected some of %s", kind, strings.Join(notice.Kinds(), ", ")))
		}
	}
	if len(c.Masters) > 0 {
		_, err := c.masters()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// noticeKinds returns the kinds of CloudNotices.
func (c *Config) noticeKinds() []notice.Kind {
	kinds := make([]notice.Kind, len(c.CloudNotices))
	for i, kind := range c.CloudNotices {
		kinds[i] = notice.Kind(kind)
	}
	return kinds
}

// masters returns the addresses of the masters with their ports.
func (c *Config) masters() ([]string, error) { return rpc.ParseMasters(strings.Join(c.Masters, ",")) }
