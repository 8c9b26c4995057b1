package raftlog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
)

// Config configures a Log.
type Config struct {
	// ID identifies this server among the masters and never changes; there is no default.
	ID string
	// ClusterID is the id of the cluster, as in its state; there is no default.
	ClusterID string
	// Dir is the directory of the log and the snapshots. It is made if it is missing,
	// and should lie on a disk that no shuffle writes to. There is no default.
	Dir string

	// Stream carries connections between masters; there is no default. Close closes it, and
	// so does Open if Open fails.
	Stream Stream
	// Advertise is the host:port at which other masters reach this one. If it changes, the
	// master must be removed and added with the new address. Default is the address of the stream.
	Advertise string

	// Bootstrap lists the first masters of a new cluster, including this one. Each of them
	// gets the same list. It is ignored if Dir contains a log. It must be empty for a master
	// that will be added to a cluster.
	Bootstrap []Peer

	// Fatal is called at most once, when this server cannot serve and must be restarted. It
	// runs in a goroutine for which Close does not wait. No event follows, and the daemon
	// must exit. There is no default.
	Fatal func(error)

	// ElectionTimeout is the time without a leader after which a server asks for votes. Raft
	// draws a value between it and twice it. With a shorter time a successor is found
	// sooner. With a longer time, busy machines that answer late cause fewer elections.
	// Default 500ms: one of three servers has a successor within 2s.
	ElectionTimeout time.Duration
	// VoteTimeout is how long a server waits for votes before it asks again. Raft draws a
	// value between it and twice it. It is at least ElectionTimeout, which is the default.
	VoteTimeout time.Duration
	// LeaderLease is the time without a majority after which a leader steps down. It is at
	// most ElectionTimeout, which is the default. Reads do not depend on it, see
	// ConfirmLead.
	LeaderLease time.Duration
	// WatchInterval is how often a leader that has committed nothing checks that it still
	// can; default 2s.
	WatchInterval time.Duration
	// WatchPatience is how long such a check may take before the leader transfers its lead;
	// default DefaultWatchPatience.
	WatchPatience time.Duration

	// SnapshotThreshold is the number of entries after a snapshot at which the next snapshot
	// is taken; default DefaultSnapshotThreshold.
	SnapshotThreshold uint64
	// SnapshotInterval is how often the threshold is checked. Raft draws a value between it
	// and twice it. Default DefaultSnapshotInterval.
	SnapshotInterval time.Duration
	// TrailingLogs is how many entries are kept after a snapshot for followers that lag;
	// default five quarters of SnapshotThreshold.
	TrailingLogs uint64

	// StoreDelay is added to each write to the log, to simulate a slow disk; default 0.
	StoreDelay time.Duration

	// Logger receives the log lines of this package and of Raft; default none.
	Logger *slog.Logger
}

// Peer is a master and its address.
type Peer struct {
	ID      string
	Address string // host:port
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	c.ElectionTimeout = cmp.Or(c.ElectionTimeout, DefaultElectionTimeout)
	c.VoteTimeout = cmp.Or(c.VoteTimeout, c.ElectionTimeout)
	c.LeaderLease = cmp.Or(c.LeaderLease, c.ElectionTimeout)
	c.WatchInterval = cmp.Or(c.WatchInterval, 2*time.Second)
	c.WatchPatience = cmp.Or(c.WatchPatience, DefaultWatchPatience)
	c.SnapshotThreshold = cmp.Or(c.SnapshotThreshold, DefaultSnapshotThreshold)
	c.SnapshotInterval = cmp.Or(c.SnapshotInterval, DefaultSnapshotInterval)
	c.TrailingLogs = cmp.Or(c.TrailingLogs, c.SnapshotThreshold+c.SnapshotThreshold/4)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// minElectionTimeout leaves time for one round trip over the network.
const minElectionTimeout = 50 * time.Millisecond

// Defaults that the daemon's help shows.
const (
	DefaultElectionTimeout = 500 * time.Millisecond
	DefaultWatchPatience   = 7 * time.Second

	DefaultSnapshotThreshold = 8192 // entries
	DefaultSnapshotInterval  = 2 * time.Minute
)

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(append(c.validatePeers(),
		validate.That(c.ID != "", "raftlog: no ID"),
		validate.That(c.ClusterID != "", "raftlog: no ClusterID"),
		validate.That(c.Dir != "", "raftlog: no Dir"),
		validate.That(c.Stream != nil, "raftlog: no Stream"),
		validate.That(c.Fatal != nil, "raftlog: no Fatal"),
		validate.That(c.ElectionTimeout >= minElectionTimeout, "raftlog: ElectionTimeout %v is less than %v", c.ElectionTimeout, minElectionTimeout),
		validate.That(c.VoteTimeout >= c.ElectionTimeout, "raftlog: VoteTimeout %v is less than ElectionTimeout %v", c.VoteTimeout, c.ElectionTimeout),
		validate.That(c.LeaderLease >= minElectionTimeout/2 && c.LeaderLease <= c.ElectionTimeout, "raftlog: LeaderLease %v is not within %v and ElectionTimeout %v", c.LeaderLease, minElectionTimeout/2, c.ElectionTimeout),
		validate.That(c.WatchInterval > 0 && c.WatchPatience > 0, "raftlog: WatchInterval %v, WatchPatience %v", c.WatchInterval, c.WatchPatience),
		validate.That(c.SnapshotInterval >= 5*time.Millisecond, "raftlog: SnapshotInterval %v is less than 5ms", c.SnapshotInterval),
		validate.That(c.StoreDelay >= 0, "raftlog: StoreDelay %v", c.StoreDelay),
	)...)
}

// validatePeers returns the problems of Bootstrap. Each master gets the same list, so with a
// mistake in it the cluster would never have a majority.
func (c *Config) validatePeers() (errs []error) {
	seen := make(map[string]bool)
	for _, p := range c.Bootstrap {
		if seen[p.ID] || seen[p.Address] {
			errs = append(errs, fmt.Errorf("raftlog: Bootstrap lists master %q at %q twice", p.ID, p.Address))
		}
		seen[p.ID], seen[p.Address] = true, true
		if err := CheckReachable(p.Address); err != nil {
			errs = append(errs, fmt.Errorf("raftlog: Bootstrap lists master %q: %w", p.ID, err))
		}
	}
	if len(c.Bootstrap) > 0 && !seen[c.ID] {
		errs = append(errs, fmt.Errorf("raftlog: Bootstrap lacks this master, %q", c.ID))
	}
	return errs
}

// CheckReachable returns why others cannot connect to an address, nil if they can.
func CheckReachable(address string) error {
	host, port, err := net.SplitHostPort(address)
	switch ip := net.ParseIP(host); {
	case err != nil:
		return fmt.Errorf("address %q: %w", address, err)
	case host == "" || port == "" || port == "0" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("address %q cannot be reached from other machines", address)
	}
	return nil
}
