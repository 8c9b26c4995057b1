package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"time"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/storage"
)

// Config says how a Master runs.
type Config struct {
	// ClusterID is the middle of all ids; there is no default.
	ClusterID string
	// Log carries commands; there is no default.
	Log Log
	// Policy makes the policy of a name with what it is set to; there is no
	// default. A cluster begins with the one named "fifo", set to nothing.
	Policy func(name string, conf map[string]string) (sched.Policy, error)
	// PolicyName is the policy that gives out slots once this master leads;
	// default that which the cluster has.
	PolicyName string
	// Pools are the pools that jobs may be put into once this master leads,
	// cluster.DefaultPool apart; default those that the cluster has.
	Pools []string
	// PoolFile is a file whose pools jobs may be put into too, and the policy is to
	// have; default none.
	PoolFile *PoolFile
	// OnePool puts every job into cluster.DefaultPool, whatever pool it names: for
	// a cluster that nobody shares. Default false.
	OnePool bool
	// Resolve turns the full name of a file into the file system that has it
	// and the path there; there is no default.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// NodeExpiry is how long a tasknode may be silent before what it runs and
	// holds is given up; default never.
	NodeExpiry time.Duration
	// Probe asks a tasknode whose connection broke, or that has not come to a new
	// leader yet, for a sign of life, at the address of its page; an error says that
	// there is none. Default nobody asks: it is given up NodeExpiry after the last
	// thing it said.
	Probe func(ctx context.Context, page string) error
	// NodeForget is how long a tasknode is remembered after it was given up, and
	// longer while a job that is not over refers to it; default for ever.
	NodeForget time.Duration
	// HistoryDir is the full name of the directory for the histories of jobs that
	// are over; default none are written.
	HistoryDir string
	// LogDir is the full name of the directory for the logs of attempts, below
	// which each job has one; default none are kept. A job may name another.
	LogDir string
	// StagingDir is the full name of the directory where clients stage programs
	// and splits; default none that the master looks after.
	StagingDir string
	// Decisions gets what is decided about slots while this master leads, as lines
	// of JSON (docs/formats/decisions.md); default nobody asks. The loop writes, so
	// it is not to wait.
	Decisions io.Writer
	// Retention is how long histories, logs and programs stay when no job uses
	// them any more; default for ever.
	Retention time.Duration
	// SweepInterval is how often the leader looks for what is older; default an
	// hour.
	SweepInterval time.Duration
	// KeepJobs is how many jobs that are over stay in memory once their history
	// is written; default 1000.
	KeepJobs int
	// ShuffleToken is what shuffle servers ask of tasks; default nothing.
	ShuffleToken string
	// Now is the time of day; default time.Now. When it is set, what waits for a time
	// to pass goes on waiting for that time.
	Now func() time.Time
	// Logger hears what the master does; default nobody.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.SweepInterval == 0 {
		c.SweepInterval = time.Hour
	}
	if c.KeepJobs == 0 {
		c.KeepJobs = 1000
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, fault string) {
		if !ok {
			faults = append(faults, errors.New("jobmaster: "+fault))
		}
	}
	check(c.ClusterID != "", "no ClusterID")
	check(c.Log != nil, "no Log")
	check(c.Policy != nil, "no Policy")
	check(c.Resolve != nil, "no Resolve")
	for _, pool := range c.Pools {
		check(wellNamed(pool), fmt.Sprintf("pool %q: a name of letters, digits, '-', '_' and '.' is expected", pool))
	}
	if c.Policy != nil && c.PolicyName != "" {
		_, err := c.Policy(c.PolicyName, nil)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

var wellNamed = regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString
