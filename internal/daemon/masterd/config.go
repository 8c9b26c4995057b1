package masterd

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/endnotify"
	"github.com/hammr/hammr/internal/web/hadoop"
	"github.com/hammr/hammr/jobmaster/raftlog"
	"github.com/hammr/hammr/jobmaster/server"
)

// Default ports of a jobmaster.
const (
	defaultPort     = "7070"
	defaultPagePort = "7080"
)

// Config says how a jobmaster runs. Settings declares its fields, with their defaults. A comment here
// says what the usage of the setting does not.
type Config struct {
	daemon.Common
	ID string // unique in the cluster and permanent
	// Join waits to be added to a running cluster instead of starting one.
	Join bool
	// Staging, HistoryDir and JobLogDir are full names of directories.
	Staging, HistoryDir, JobLogDir string
	Retention                      time.Duration // of histories, logs and unused programs
	KeepJobs                       int
	// KeepTasks is how many tasks of finished jobs the masters keep in memory while histories
	// cannot be written.
	KeepTasks      int
	TasknodeExpiry time.Duration
	// TasknodeForget is how long a lost tasknode is remembered, unless an administrator has
	// removed it.
	TasknodeForget time.Duration
	// Policy is the scheduling policy that the leader sets.
	Policy string
	// InitialPolicy is the policy of a new cluster with its settings, as NAME,SETTING=VALUE,…
	InitialPolicy string
	// Pools are the pools that jobs may name, in addition to the pool default.
	Pools []string
	// AllocationFile is a fair-scheduler.xml that the leader watches.
	AllocationFile string
	// DecisionsFile is opened by the caller, as Decisions.
	DecisionsFile string
	// ElectionTimeout is the silence of the leader after which a follower becomes a
	// candidate.
	ElectionTimeout time.Duration
	VoteTimeout     time.Duration
	LeaderLease     time.Duration
	// StallTimeout is how long a leader may fail to commit before it steps down.
	StallTimeout     time.Duration
	SnapshotEntries  int
	SnapshotInterval time.Duration
	// Nice is below 0 by default so that busy programs on the machine do not make the master miss its
	// deadlines. 0 leaves the niceness of the process unchanged.
	Nice       int
	StoreDelay time.Duration
	// UserSubmissionRate and UserSubmissionBurst bound the submissions of a user: the rate in
	// a second, and how many may come at once. A rate of 0 is no bound.
	UserSubmissionRate, UserSubmissionBurst int
	// UserCallRate and UserCallBurst bound the other calls of a user in the same way.
	UserCallRate, UserCallBurst int
	AnonymousReaders            bool
	YarnScheduler               string // one of hadoop.Schedulers, or ""
	// NotificationNetworks permit end notifications of jobs to addresses that are refused otherwise, such
	// as those of the masters' machines.
	NotificationNetworks []string
	PageBase             string
	PageProxies          []string

	// Decisions receives the leader's scheduling decisions, one JSON document on each line.
	// Default none.
	Decisions io.Writer
	// Version is the version of the program, which clients see. Default "".
	Version string
}

// Settings lists the settings of a jobmaster. docs/cluster.md has a row for each, which a test checks.
func (c *Config) Settings() daemon.Settings {
	return append(daemon.Settings{
		daemon.String("id", &c.ID, "", "`name` of this master, unique and permanent").Required(),
		daemon.String("dir", &c.Dir, "", "`directory` of the master's log, on a disk without shuffle files").Required(),
		daemon.String("address", &c.Address, ":"+defaultPort, "`host:port` for clients, tasknodes and other masters"),
		daemon.String("http", &c.HTTP, "127.0.0.1:"+defaultPagePort, "`host:port` of the HTTP server for the pages, the API, health and metrics"),
		daemon.String("advertise", &c.Advertise, "", "`host:port` at which others reach --address (default its entry in --masters)"),
		daemon.Strings("masters", &c.Masters, nil, "first masters of a new cluster, as `id=host:port,...`, the same on each (default this one alone)").Check(checkMaster),
		daemon.Bool("join", &c.Join, "wait for 'hammr master add' instead of starting a cluster"),
		daemon.String("cluster-id", &c.ClusterID, "", "`id` of the cluster, a number, the same on each master (default the time, for a single master)").Check(checkClusterID),
		daemon.String("staging", &c.Staging, "", "full name of the `directory` for splits and programs (default /tmp/hammr/staging on fs.defaultFS)"),
		daemon.String("history-dir", &c.HistoryDir, "", "full name of the `directory` for job histories (default history next to --staging)"),
		daemon.String("job-log-dir", &c.JobLogDir, "", "full name of the `directory` for logs of tasks (default joblogs next to --staging)"),
		daemon.Duration("retention", &c.Retention, 7*24*time.Hour, "`time` to keep histories, logs and unused programs").Reloadable(),
		daemon.Int("keep-jobs", &c.KeepJobs, 1000, 1, "`number` of finished jobs that 'hammr job list --all' shows from memory").Reloadable(),
		daemon.Int("keep-tasks", &c.KeepTasks, 1_000_000, 1, "`number` of tasks of finished jobs to keep in memory while job histories cannot be written").Reloadable(),
		daemon.Duration("expiry", &c.TasknodeExpiry, 0, "`silence` after which a tasknode is lost (default hammr.tasknode.expiry, 10 s)").Reloadable(),
		daemon.Duration("forget", &c.TasknodeForget, 24*time.Hour, "`time` to remember a lost tasknode, unless it was removed by 'hammr node remove'").Reloadable(),
		daemon.String("policy", &c.Policy, "", "`name` of the scheduling policy (default the cluster's own, initially --initial-policy)").Check(checkPolicy),
		daemon.String("initial-policy", &c.InitialPolicy, "", "policy of a new cluster, as `name,setting=value,...`; an existing cluster keeps its own (default fifo)").Check(checkInitial),
		daemon.Strings("pools", &c.Pools, nil, "pools that jobs may be put into in addition to default, as `name,...` (default the cluster's own)"),
		daemon.String("allocation-file", &c.AllocationFile, "", "`file` of pools in the format of Hadoop's fair scheduler, checked by the leader every 10 s; use the same on each master").Reloadable(),
		daemon.String("decisions-file", &c.DecisionsFile, "", "`file` for scheduling decisions as lines of JSON, rotated like the log (default none)"),
		daemon.Duration("election-timeout", &c.ElectionTimeout, 0, "`silence` of the leader that starts an election (default hammr.jobmaster.election.timeout, 500 ms)"),
		daemon.Duration("vote-timeout", &c.VoteTimeout, 0, "`time` a candidate waits for votes (default --election-timeout)"),
		daemon.Duration("lease-timeout", &c.LeaderLease, 0, "`time` without a majority after which a leader steps down (default --election-timeout)"),
		daemon.Duration("stall-timeout", &c.StallTimeout, raftlog.DefaultWatchPatience, "`time` without a commit after which a leader steps down"),
		daemon.Int("snapshot-entries", &c.SnapshotEntries, raftlog.DefaultSnapshotThreshold, 1, "`number` of log entries after which a snapshot is taken"),
		daemon.Duration("snapshot-interval", &c.SnapshotInterval, raftlog.DefaultSnapshotInterval, "shortest `time` between two checks of --snapshot-entries; the longest is twice that"),
		daemon.Int("nice", &c.Nice, -5, -20, "`niceness` of the process; below 0, other processes delay it less; 0 does not change it"),
		daemon.Duration("store-delay", &c.StoreDelay, 0, "`time` added to each write to the log, to simulate a slow disk"),
		daemon.Int("user-submission-rate", &c.UserSubmissionRate, 50, 0, "`number` of jobs that a user may submit in a second; 0 for any").Reloadable(),
		daemon.Int("user-submission-burst", &c.UserSubmissionBurst, 200, 1, "`number` of jobs that a user may submit at once").Reloadable(),
		daemon.Int("user-call-rate", &c.UserCallRate, 200, 0, "`number` of other calls that a user may make in a second; 0 for any").Reloadable(),
		daemon.Int("user-call-burst", &c.UserCallBurst, 1000, 1, "`number` of other calls that a user may make at once").Reloadable(),
		daemon.Bool("drills", &c.Drills, "let holders of the token inject faults"),
		daemon.Bool("anonymous-readers", &c.AnonymousReaders, "let browsers without the token view the pages; logs and changes need it"),
		daemon.Strings("page-hosts", &c.PageHosts, nil, "names by which browsers reach the pages, besides IP addresses, localhost and the names of the machine and of --advertise and --http, as `name,...`"),
		daemon.String("yarn-scheduler", &c.YarnScheduler, "", "`shape` of /ws/v1/cluster/scheduler: fair, capacity or fifo (default by the policy)").Check(daemon.OneOf(hadoop.Schedulers...)),
		daemon.Strings("notification-networks", &c.NotificationNetworks, nil, "`networks` that jobs may name for their end notification although they are of this machine or link-local, as 127.0.0.1/32").Check(checkNetwork),
		daemon.String("http-base", &c.PageBase, "/", "`path` below which browsers see the pages, as /hammr/ behind a proxy"),
		daemon.Strings("http-proxies", &c.PageProxies, nil, "`networks` of proxies whose X-Forwarded-Proto and X-Forwarded-For count, as 10.0.0.0/24; with https, cookies need TLS"),
		daemon.String("ready-file", &c.ReadyFile, "", "`file` to write when the master serves and knows a leader"),
	}, c.Common.Settings(1024)...)
}

// EnsureDefaults sets zero fields to their defaults, if the default is the same on every
// machine. Call it before you set other fields: a 0 that is set afterwards, such as Nice,
// stays 0.
func (c *Config) EnsureDefaults() { c.Settings().EnsureDefaults() }

// Validate reports every error of the configuration at once. It reads no files.
func (c *Config) Validate() error { return c.Settings().Validate() }

// rates returns the bounds of the calls of a user.
func (c *Config) rates() server.Rates {
	return server.Rates{
		Submissions: server.Rate{PerSecond: c.UserSubmissionRate, Burst: c.UserSubmissionBurst},
		Calls:       server.Rate{PerSecond: c.UserCallRate, Burst: c.UserCallBurst},
	}
}

func checkClusterID(text string) error {
	if n, err := strconv.ParseUint(text, 10, 63); err != nil || n == 0 {
		return errors.New("expected a number")
	}
	return nil
}

func checkNetwork(text string) error {
	_, err := endnotify.ParseNetworks([]string{text})
	return err
}

// parseMaster returns the master of an entry of Masters.
func parseMaster(entry string) (raftlog.Peer, error) {
	id, address, ok := strings.Cut(entry, "=")
	if !ok || id == "" || address == "" {
		return raftlog.Peer{}, errors.New("expected id=host:port")
	}
	return raftlog.Peer{ID: id, Address: daemon.WithDefaultPort(address, defaultPort)}, nil
}

func checkMaster(entry string) error {
	_, err := parseMaster(entry)
	return err
}

// Peers returns the first masters; none if there is a single master. It leaves out what Validate
// reports.
func (c *Config) Peers() (peers []raftlog.Peer) {
	for _, entry := range c.Masters {
		if p, err := parseMaster(entry); err == nil {
			peers = append(peers, p)
		}
	}
	return peers
}
