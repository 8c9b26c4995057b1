package masterd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/endnotify"
	"github.com/hammr/hammr/internal/validate"
	"github.com/hammr/hammr/internal/web/hadoop"
	"github.com/hammr/hammr/jobmaster/raftlog"
	"github.com/hammr/hammr/jobmaster/server"
)

// Default ports of a jobmaster.
const (
	defaultPort     = "7070"
	defaultPagePort = "7080"
)

// Config says how a jobmaster runs. Errors name its fields by the flags of
// `hammr jobmaster`.
type Config struct {
	// ID is the name of this master, unique in the cluster and permanent. Required.
	ID string
	// ClusterID is a number, the same on each master. Default the number that Dir contains.
	// If Dir contains none, a single master that does not Join uses the time in ms.
	ClusterID string
	// Dir has the Raft log; it belongs on a disk that no shuffle writes to. Required.
	Dir string
	// Address is the host:port for clients, tasknodes and other masters. Default ":7070".
	Address string
	// HTTP is the host:port of the pages, the API, health and metrics. Default "127.0.0.1:7080".
	HTTP string
	// Advertise is the host:port at which others reach Address. Default this master's entry
	// in Masters; without an entry, the address at which it listens.
	Advertise string
	// Masters are the first masters of a new cluster, as id=host:port. Default this master
	// alone.
	Masters []string
	// Join waits to be added to a running cluster instead of starting one. Default false.
	Join bool
	// TokenFile has the cluster's secret. Required.
	TokenFile string
	// Staging is the full name of the directory for splits and programs. Default
	// tmp/hammr/staging on the default file system of Conf.
	Staging string
	// HistoryDir is the full name of the directory for histories of jobs. Default
	// history next to Staging.
	HistoryDir string
	// JobLogDir is the full name of the directory for logs of tasks. Default joblogs
	// next to Staging.
	JobLogDir string
	// Retention is how long histories, logs and unused programs are kept. Default 7 days.
	Retention time.Duration
	// KeepJobs is how many finished jobs the masters list from memory. Default 1000.
	KeepJobs int
	// KeepTasks is how many tasks of finished jobs the masters keep in memory while histories
	// cannot be written. Default 1,000,000.
	KeepTasks int
	// TasknodeExpiry is the silence after which a tasknode is lost. Default
	// hammr.tasknode.expiry of Conf, 10 s.
	TasknodeExpiry time.Duration
	// TasknodeForget is how long a lost tasknode is remembered, unless an administrator has
	// removed it. Default 24 h.
	TasknodeForget time.Duration
	// Policy is the scheduling policy that the leader sets. Default the policy that the
	// cluster has, which is fifo in a new cluster.
	Policy string
	// Pools are the pools that jobs may name, in addition to the pool default. Default the
	// pools that the cluster has.
	Pools []string
	// AllocationFile is a fair-scheduler.xml that the leader watches. Default none.
	AllocationFile string
	// Decisions receives the leader's scheduling decisions, one JSON document on each line.
	// Default none.
	Decisions io.Writer
	// ElectionTimeout is the silence of the leader after which a follower becomes a
	// candidate. Default hammr.jobmaster.election.timeout of Conf, 500 ms.
	ElectionTimeout time.Duration
	// VoteTimeout is how long a candidate waits for votes. Default ElectionTimeout.
	VoteTimeout time.Duration
	// LeaderLease is how long a leader without a majority continues to lead. Default
	// ElectionTimeout.
	LeaderLease time.Duration
	// StallTimeout is how long a leader may fail to commit before it steps down.
	// Default raftlog.DefaultWatchPatience, 7 s.
	StallTimeout time.Duration
	// SnapshotEntries is the number of log entries after which a snapshot is taken. Default
	// raftlog.DefaultSnapshotThreshold.
	SnapshotEntries int
	// SnapshotInterval is the time between two checks of SnapshotEntries. Default
	// raftlog.DefaultSnapshotInterval.
	SnapshotInterval time.Duration
	// Nice is the niceness of the process; 0 leaves it unchanged. Default -5, so that busy
	// programs on the machine do not make the master miss its deadlines.
	Nice int
	// StoreDelay slows each write to the log, to simulate a slow disk. Default 0.
	StoreDelay time.Duration
	// MaxConnections bounds the open connections of Address. At most half of the files that
	// the process may open are used for them. Default 16384.
	MaxConnections int
	// MaxConnectionsPerAddress bounds the connections of Address from one source; see httpserver.SourceOf.
	// Default 1024.
	MaxConnectionsPerAddress int
	// UserSubmissionRate and UserSubmissionBurst bound the submissions of a user: the rate in
	// a second, and how many may come at once. A rate of 0 is no bound. Default 50 and 200.
	UserSubmissionRate  int
	UserSubmissionBurst int
	// UserCallRate and UserCallBurst bound the other calls of a user in the same way. Default
	// 200 and 1000.
	UserCallRate  int
	UserCallBurst int
	// Drills lets holders of the token inject faults. Default false.
	Drills bool
	// AnonymousReaders lets browsers without the token view the pages, but neither read logs nor
	// change anything. Default false.
	AnonymousReaders bool
	// PageHosts are names by which browsers reach the pages, besides localhost, IP addresses, and the
	// names of the machine, Advertise and HTTP. Default none.
	PageHosts []string
	// YarnScheduler is the shape of the scheduler in Hadoop's REST API, one of hadoop.Schedulers.
	// Default by the policy.
	YarnScheduler string
	// NotificationNetworks permit end notifications of jobs to addresses that are refused otherwise, such
	// as those of the masters' machines; each as 10.0.0.0/24. Default none.
	NotificationNetworks []string
	// PageBase is the path below which browsers see the pages, for a proxy that serves other things
	// too. Default "/".
	PageBase string
	// PageProxies are the networks of proxies, whose headers X-Forwarded-Proto and X-Forwarded-For
	// count. Default none.
	PageProxies []string
	// Profiles shows Go's profiles on the page. Default false.
	Profiles bool
	// ReadyFile is written when the master serves and knows a leader. Default none.
	ReadyFile string
	// Notifier informs the service manager. Default none.
	Notifier *daemon.Notifier
	// Version is the version of the program, which clients see. Default "".
	Version string
	// Conf is the site's configuration. Default conf.New().
	Conf *conf.Conf
	// Logger takes the daemon's log. Default none.
	Logger *slog.Logger
}

// EnsureDefaults sets zero fields to their defaults, if the default is the same on every
// machine. Call it before you set other fields: a 0 that is set afterwards, such as Nice,
// stays 0.
func (c *Config) EnsureDefaults() {
	c.Address = cmp.Or(c.Address, ":"+defaultPort)
	c.HTTP = cmp.Or(c.HTTP, "127.0.0.1:"+defaultPagePort)
	c.PageBase = cmp.Or(c.PageBase, "/")
	c.Retention = cmp.Or(c.Retention, 7*24*time.Hour)
	c.KeepJobs = cmp.Or(c.KeepJobs, 1000)
	c.KeepTasks = cmp.Or(c.KeepTasks, 1_000_000)
	c.TasknodeForget = cmp.Or(c.TasknodeForget, 24*time.Hour)
	c.StallTimeout = cmp.Or(c.StallTimeout, raftlog.DefaultWatchPatience)
	c.SnapshotEntries = cmp.Or(c.SnapshotEntries, raftlog.DefaultSnapshotThreshold)
	c.SnapshotInterval = cmp.Or(c.SnapshotInterval, raftlog.DefaultSnapshotInterval)
	c.Nice = cmp.Or(c.Nice, -5)
	c.MaxConnections = cmp.Or(c.MaxConnections, 16384)
	c.MaxConnectionsPerAddress = cmp.Or(c.MaxConnectionsPerAddress, 1024)
	c.UserSubmissionRate, c.UserSubmissionBurst = cmp.Or(c.UserSubmissionRate, 50), cmp.Or(c.UserSubmissionBurst, 200)
	c.UserCallRate, c.UserCallBurst = cmp.Or(c.UserCallRate, 200), cmp.Or(c.UserCallBurst, 1000)
}

// rates returns the bounds of the calls of a user.
func (c *Config) rates() server.Rates {
	return server.Rates{
		Submissions: server.Rate{PerSecond: c.UserSubmissionRate, Burst: c.UserSubmissionBurst},
		Calls:       server.Rate{PerSecond: c.UserCallRate, Burst: c.UserCallBurst},
	}
}

// limits returns the limits of connections to Address.
func (c *Config) limits() daemon.Limits {
	return daemon.Limits{Total: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress, Remedy: "--max-connections-per-address", Logger: c.Logger}
}

// Validate reports every error of the configuration at once. It reads no files.
func (c *Config) Validate() error {
	_, err := c.peers()
	number, notNumber := strconv.ParseUint(c.ClusterID, 10, 63)
	_, wrongNetwork := endnotify.ParseNetworks(c.NotificationNetworks)
	return errors.Join(err,
		validate.That(wrongNetwork == nil, "--notification-networks: %v", wrongNetwork),
		validate.That(c.ID != "", "--id is missing"),
		validate.That(c.Dir != "", "--dir is missing"),
		validate.That(c.TokenFile != "", "--token-file is missing"),
		validate.That(c.ClusterID == "" || notNumber == nil && number > 0, "--cluster-id %q: expected a number", c.ClusterID),
		validate.That(c.YarnScheduler == "" || slices.Contains(hadoop.Schedulers, c.YarnScheduler), "--yarn-scheduler %q: expected one of %s", c.YarnScheduler, strings.Join(hadoop.Schedulers, ", ")),
	)
}

// peers returns the first masters; none if there is a single master.
func (c *Config) peers() (peers []raftlog.Peer, err error) {
	var errs []error
	for _, entry := range c.Masters {
		id, address, ok := strings.Cut(entry, "=")
		if !ok || id == "" || address == "" {
			errs = append(errs, fmt.Errorf("--masters: %q: expected id=host:port", entry))
			continue
		}
		peers = append(peers, raftlog.Peer{ID: id, Address: daemon.WithDefaultPort(address, defaultPort)})
	}
	return peers, errors.Join(errs...)
}
