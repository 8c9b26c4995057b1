package jobmaster

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/storage"
)

// Config configures a Master.
type Config struct {
	// ClusterID is the middle part of all ids; there is no default.
	ClusterID string
	// Log replicates the commands; there is no default.
	Log Log
	// Policy makes the policy with this name and these settings; there is no default. A new
	// cluster has the policy "fifo" without settings.
	Policy func(name string, conf map[string]string) (sched.Policy, error)
	// PolicyName is the policy that this master sets when it becomes leader; default the
	// policy that the cluster has.
	PolicyName string
	// InitialPolicy and InitialConf are the policy that this master sets when it leads a cluster that has
	// never had a job or a tasknode, unless there is a PolicyName; default the policy that the cluster has.
	InitialPolicy string
	InitialConf   map[string]string
	// Pools are the pools, besides cluster.DefaultPool, that this master sets when it
	// becomes leader; default the pools that the cluster has.
	Pools []string
	// PoolFile is a file that contains further pools and settings of the policy. The leader
	// watches it; default none.
	PoolFile *PoolFile
	// CreatePools says which pools may have jobs although nothing declares them: CreateUserPools,
	// CreateAnyPool or CreateNoPools. Default CreateUserPools.
	CreatePools string
	// OnePool puts every job into cluster.DefaultPool, whatever pool the job names. It is
	// for a cluster with a single user. Default false.
	OnePool bool
	// Resolve maps the full name of a file to its file system and its path there; there
	// is no default.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// TasknodeExpiry is how long a tasknode may be silent before it is lost with its
	// attempts and outputs; default no limit.
	TasknodeExpiry time.Duration
	// Probe checks that a tasknode is alive, given the addresses of its page and of its
	// shuffle server, each "" for none. It returns an error if the tasknode does not answer;
	// the error wraps syscall.ECONNREFUSED if its machine answers that no process listens. It
	// is called when the tasknode's connection breaks. A new leader also calls it until the
	// tasknode attaches. Default no probes: silence counts from the tasknode's last report.
	Probe func(ctx context.Context, page, address string) error
	// TasknodeForget is how long a lost tasknode is remembered. It is remembered longer
	// while a job that is not over refers to it. Default for ever.
	TasknodeForget time.Duration
	// Notify fetches the URL that a job names for its end. Default none: no URL is fetched.
	Notify func(ctx context.Context, url string) error
	// HistoryDir is the full name of the directory for the histories of jobs that are over;
	// default none, so that no histories are written.
	HistoryDir string
	// LogDir is the full name of the directory for the logs of attempts, with a subdirectory
	// for each job; default none, so that no logs are kept. A job may name another
	// directory.
	LogDir string
	// StagingDir is the full name of the directory where clients stage programs and splits.
	// The leader removes expired files from it; default none.
	StagingDir string
	// Decisions receives the scheduling decisions of this master while it leads, as lines of
	// JSON (docs/formats/decisions.md); default none. The loop calls Write, so Write must
	// not wait.
	Decisions io.Writer
	// Retention is how long histories, logs and programs are kept after the last job
	// that uses them; default for ever.
	Retention time.Duration
	// SweepInterval is how often the leader removes expired files; default one hour.
	SweepInterval time.Duration
	// KeepJobs is how many finished jobs are listed from memory after their history is
	// written; default 1000. Up to an eighth more stay until their index is written.
	KeepJobs int
	// KeepTasks is how many tasks of finished jobs stay in memory while their histories
	// cannot be written; default 1,000,000, about 1.2 GB. Each KiB of a job's specification
	// counts as a task. The oldest jobs beyond that are retired without a history. A master
	// without HistoryDir retires its oldest finished jobs by KeepJobs and KeepTasks.
	KeepTasks int
	// Limits are the limits that this master sets when it becomes leader; default
	// cluster.DefaultLimits.
	Limits cluster.Limits
	// ShuffleToken returns the token that shuffle servers demand of the tasks of a job;
	// default always "", no token.
	ShuffleToken func(job string) string
	// MaxRequests is how many requests of clients may wait for the loop; default 1000.
	MaxRequests int
	// MaxSubmissions is how many submissions may be on their way through the log; default
	// 1000.
	MaxSubmissions int
	// MaxWatchers is how many calls of Watch may wait for a change of their job; default
	// 10,000.
	MaxWatchers int
	// CommonVersion returns the newest cluster version that all masters support, as they say
	// now. It may take seconds. If an older master, or one that does not answer, keeps the
	// version below cluster.FormatVersion, it returns an error too that names that master. From
	// then on it must let no master join that supports less than it has returned. Default nil:
	// no other program shares the log, and the state has cluster.FormatVersion from the start.
	CommonVersion func(ctx context.Context) (int, error)
	// Masters returns the addresses of the masters, which tasknodes are sent. It must not wait.
	// Default none: tasknodes know the masters that they were started with.
	Masters func() []string
	// Now returns the time of day; default time.Now. Timeouts do not depend on it, see
	// clock.
	Now func() time.Time
	// Logger receives log lines; default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Masters == nil {
		c.Masters = func() []string { return nil }
	}
	if c.ShuffleToken == nil {
		c.ShuffleToken = func(string) string { return "" }
	}
	c.MaxRequests, c.MaxSubmissions, c.MaxWatchers = cmp.Or(c.MaxRequests, 1000), cmp.Or(c.MaxSubmissions, 1000), cmp.Or(c.MaxWatchers, 10_000)
	c.CreatePools = cmp.Or(c.CreatePools, CreateUserPools)
	c.SweepInterval = cmp.Or(c.SweepInterval, time.Hour)
	c.KeepJobs = cmp.Or(c.KeepJobs, 1000)
	c.KeepTasks = cmp.Or(c.KeepTasks, 1_000_000)
	c.Limits = cmp.Or(c.Limits, cluster.DefaultLimits())
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// firstVersion returns the cluster version of the state at the beginning of the log.
func (c *Config) firstVersion() int {
	if c.CommonVersion == nil {
		return cluster.FormatVersion
	}
	return cluster.FirstVersion
}

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	errs := []error{
		validate.That(c.ClusterID != "", "jobmaster: no ClusterID"),
		validate.That(c.Log != nil, "jobmaster: no Log"),
		validate.That(c.Policy != nil, "jobmaster: no Policy"),
		validate.That(c.Resolve != nil, "jobmaster: no Resolve"),
		validate.That(slices.Contains([]string{CreateUserPools, CreateAnyPool, CreateNoPools}, c.CreatePools), "jobmaster: CreatePools %q", c.CreatePools),
		c.Limits.Validate(),
	}
	for _, pool := range c.Pools {
		errs = append(errs, validate.That(wellNamed().MatchString(pool), "jobmaster: pool %q: a name of letters, digits, '-', '_' and '.' is expected", pool))
	}
	if c.Policy != nil && c.PolicyName != "" {
		_, err := c.Policy(c.PolicyName, nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

var wellNamed = pattern.New(`^[A-Za-z0-9._-]+$`)
