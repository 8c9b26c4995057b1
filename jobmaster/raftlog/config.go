package raftlog

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// Config says how a Log runs.
type Config struct {
	// ID names this server among the masters, for its whole life; there is no
	// default.
	ID string
	// ClusterID names the cluster, as its state does; there is no default.
	ClusterID string
	// Dir holds the log and the snapshots. It is made when it is missing. It
	// should lie on a disk that no shuffle writes to. There is no default.
	Dir string

	// Bind is the host:port on which other masters are heard, unless Stream is
	// set; port 0 is any free one. There is no default.
	Bind string
	// Stream carries connections between masters; default TCP on Bind. Close
	// closes it, and so does an Open that does not succeed.
	Stream Stream
	// Advertise is the host:port under which other masters reach this one. It
	// stays the same for the server's life, or the others have to be told with
	// AddMaster. Default is the address of the stream.
	Advertise string

	// Bootstrap are the first masters of a new cluster, this one among them;
	// each of them gets the same list. It does nothing when Dir holds a log
	// already. Empty is right for a master that will be added to a cluster.
	Bootstrap []Peer

	// Fatal is called at most once, in a goroutine that Close does not wait
	// for, when this server cannot serve and has to be started anew. No event
	// comes any more. The daemon ends itself. There is no default.
	Fatal func(error)

	// ElectionTimeout is the time without a leader after which, up to twice as long, a
	// server asks for votes. Less makes a new leader come sooner, more is kinder
	// to machines so busy that they cannot answer in time. Default 500ms: one of
	// three servers has a successor within 2s.
	ElectionTimeout time.Duration
	// VoteTimeout is how long, up to twice as long, a server waits for votes before
	// it asks again; at least Heartbeat, which is the default.
	VoteTimeout time.Duration
	// LeaderLease is the time without a majority after which a leader gives up; at most
	// Heartbeat, which is the default. No read rests on it, see ConfirmLead.
	LeaderLease time.Duration
	// WatchInterval is how often a leader that commits nothing tries whether it
	// could; default 2s.
	WatchInterval time.Duration
	// WatchPatience is how long such a try may take before the leader gives
	// up; default DefaultWatchPatience.
	WatchPatience time.Duration

	// SnapshotThreshold is how many entries after a snapshot another is taken;
	// default DefaultSnapshotThreshold.
	SnapshotThreshold uint64
	// SnapshotInterval is how often, up to twice as long, the threshold is
	// looked at; default DefaultSnapshotInterval.
	SnapshotInterval time.Duration
	// TrailingLogs is how many entries are kept after a snapshot for followers
	// that lag; default five quarters of SnapshotThreshold.
	TrailingLogs uint64

	// StoreDelay is added to each write to the log, to see how a slow disk
	// does; default 0.
	StoreDelay time.Duration

	// Logger hears what the log and Raft do; default nobody.
	Logger *slog.Logger
}

// Peer is a master as others know it.
type Peer struct {
	ID      string
	Address string // host:port
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	setDefault(&c.ElectionTimeout, DefaultElectionTimeout)
	setDefault(&c.VoteTimeout, c.ElectionTimeout)
	setDefault(&c.LeaderLease, c.ElectionTimeout)
	setDefault(&c.WatchInterval, 2*time.Second)
	setDefault(&c.WatchPatience, DefaultWatchPatience)
	setDefault(&c.SnapshotThreshold, DefaultSnapshotThreshold)
	setDefault(&c.SnapshotInterval, DefaultSnapshotInterval)
	setDefault(&c.TrailingLogs, c.SnapshotThreshold+c.SnapshotThreshold/4)
	setDefault(&c.Logger, slog.New(slog.DiscardHandler))
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

// minElectionTimeout is the least that leaves time for a round over the network.
const minElectionTimeout = 50 * time.Millisecond

// The defaults that those who configure a Log from outside show.
const (
	DefaultElectionTimeout = 500 * time.Millisecond
	DefaultWatchPatience   = 7 * time.Second

	DefaultSnapshotThreshold = 8192 // entries
	DefaultSnapshotInterval  = 2 * time.Minute
)

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("raftlog: "+format, args...))
		}
	}
	check(c.ID != "", "no ID")
	check(c.ClusterID != "", "no ClusterID")
	check(c.Dir != "", "no Dir")
	check(c.Bind != "" || c.Stream != nil, "no Bind and no Stream")
	check(c.Fatal != nil, "no Fatal")
	check(c.ElectionTimeout >= minElectionTimeout, "Heartbeat %v is less than %v", c.ElectionTimeout, minElectionTimeout)
	check(c.VoteTimeout >= c.ElectionTimeout, "Election %v is less than Heartbeat %v", c.VoteTimeout, c.ElectionTimeout)
	check(c.LeaderLease >= minElectionTimeout/2 && c.LeaderLease <= c.ElectionTimeout, "Lease %v, not within %v to Heartbeat %v", c.LeaderLease, minElectionTimeout/2, c.ElectionTimeout)
	check(c.WatchInterval > 0 && c.WatchPatience > 0, "WatchInterval %v, WatchPatience %v", c.WatchInterval, c.WatchPatience)
	check(c.SnapshotInterval >= 5*time.Millisecond, "SnapshotInterval %v is less than 5ms", c.SnapshotInterval)
	check(c.StoreDelay >= 0, "StoreDelay %v", c.StoreDelay)
	faults = append(faults, c.validatePeers()...)
	return errors.Join(faults...)
}

func (c *Config) validatePeers() (faults []error) {
	seen := make(map[string]bool)
	for _, p := range c.Bootstrap {
		if seen[p.ID] || seen[p.Address] {
			faults = append(faults, fmt.Errorf("raftlog: Bootstrap has master %q at %q twice", p.ID, p.Address))
		}
		seen[p.ID], seen[p.Address] = true, true
		if err := checkReachable(p.Address); err != nil {
			faults = append(faults, fmt.Errorf("raftlog: Bootstrap has master %q: %w", p.ID, err))
		}
	}
	if len(c.Bootstrap) > 0 && !seen[c.ID] {
		faults = append(faults, fmt.Errorf("raftlog: Bootstrap lacks this master, %q", c.ID))
	}
	return faults
}

// checkReachable says what keeps others from connecting to an address.
func checkReachable(address string) error {
	host, port, err := net.SplitHostPort(address)
	switch ip := net.ParseIP(host); {
	case err != nil:
		return fmt.Errorf("address %q: %w", address, err)
	case host == "" || port == "" || port == "0" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("address %q is not one that others can connect to", address)
	}
	return nil
}
