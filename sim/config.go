package sim

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim/workload"
)

// Config is the cluster that is played. Zero values stand for the defaults.
type Config struct {
	Policy sched.Policy // that gives out slots; no default. A run uses it up.

	Machines    int // machines; no default
	MapSlots    int // of each machine; default 1, negative for none
	ReduceSlots int // likewise
	// SharedSlots has reduces run in map slots too, as in engines that know one
	// kind only. They start when all maps of their job have finished.
	SharedSlots bool
	Racks       int // into which machines are dealt in turn; default 1
	Replication int // copies of each block of input, on different machines; default 3, at most Nodes
	Seed        uint64

	// Heartbeat is how long a machine keeps what it has to say, in ms. By
	// default it says everything at once.
	Heartbeat int64
	// Latency is how long a message is under way, in ms; default 5, negative for
	// none.
	Latency int64
	// ProgressInterval is how often a running attempt says how far it is, in ms; default
	// 3000, negative for never.
	ProgressInterval int64

	// RemoteRate is how fast input is read from another machine, in bytes/s:
	// what that takes comes on top of a map's time. Default 100 MB/s.
	RemoteRate int64
	// ShuffleRate is how fast one reduce copies, in bytes/s; default 50 MB/s.
	ShuffleRate int64
	// Costs is what it costs to take a slot from a task. The policy may know them
	// too, and then they should be the same; their Heartbeat is of use to it only.
	Costs preempt.Costs

	// Failures are machines that are lost, in any order.
	Failures []Failure
	// Expiry is how long a machine is silent before it is given up, in ms; default
	// 10,000.
	Expiry int64

	// InjectFaults is called when a run begins and breaks what it likes. It is called again
	// as many ms later as it returns, unless that is 0. Default nobody.
	InjectFaults func(*Simulation) (again int64)
	// OnFailpoint says what happens at the places that attempts and masters come to;
	// default nothing.
	OnFailpoint func(*Simulation, FailpointHit) Effect
	// Masters are how many there are; default 1. When the one that leads is gone and
	// most are there, another one leads Election ms later; default 1000.
	Masters      int
	ElectionTime int64
	// CommitTime is how long it takes to give a part of a job's output its final name, in
	// ms; default no time.
	CommitTime int64

	// StarvationLimit is for how long a job may have tasks to start, or suspended ones, and
	// hold no slot, in ms; when one does for longer, the run fails. 0 is for ever.
	StarvationLimit int64
	// CheckInvariants has the state looked through after every change, which is
	// slow.
	CheckInvariants bool

	// OnDecision hears what is decided about slots, in the order in which it is;
	// times are ms since the start of the run. Default nobody.
	OnDecision func(sched.Decision)

	// OnProgress hears now and then how many jobs are over, and the time; default nobody.
	OnProgress func(over int, at int64)

	Tasks  bool // the result is to list all attempts
	Series bool // the result is to tell who has slots at which time
}

// Validate names everything that is wrong with the configuration, but for the
// policy and for what depends on the workload.
func (c Config) Validate() error {
	c.ensureDefaults()
	return c.validate()
}

// ValidateFor names everything that is wrong with the configuration for a workload,
// but for the policy.
func (c Config) ValidateFor(w *workload.Workload) error {
	c.ensureDefaults()
	return errors.Join(c.validate(), c.validateTriggers(w))
}

func (c *Config) ensureDefaults() {
	c.MapSlots, c.ReduceSlots = max(cmp.Or(c.MapSlots, 1), 0), max(cmp.Or(c.ReduceSlots, 1), 0)
	c.Racks = cmp.Or(c.Racks, 1)
	c.Replication = min(cmp.Or(c.Replication, 3), c.Machines)
	c.Latency = max(cmp.Or(c.Latency, 5), 0)
	c.RemoteRate = cmp.Or(c.RemoteRate, 100e6)
	c.ShuffleRate = cmp.Or(c.ShuffleRate, 50e6)
	c.ProgressInterval = cmp.Or(c.ProgressInterval, 3000)
	c.Costs = c.Costs.WithDefaults()
	c.Expiry = cmp.Or(c.Expiry, 10_000)
	c.Masters, c.ElectionTime = cmp.Or(c.Masters, 1), cmp.Or(c.ElectionTime, 1000)
}

// validate names every fault at once.
func (c *Config) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("sim: "+format, args...)) }
	if c.Machines < 1 {
		fault("%d machines; at least 1", c.Machines)
	}
	if c.MapSlots+c.ReduceSlots == 0 {
		fault("machines without slots")
	}
	if c.Racks < 1 || c.Replication < 0 || c.Heartbeat < 0 || c.Expiry < 0 || c.StarvationLimit < 0 {
		fault("%d racks, %d copies, heartbeat %d ms, expiry %d ms, starvation after %d ms: none may be negative",
			c.Racks, c.Replication, c.Heartbeat, c.Expiry, c.StarvationLimit)
	}
	if min(int64(c.Masters), c.ElectionTime, c.CommitTime) < 0 {
		fault("%d masters, elections of %d ms, commits of %d ms a part: none may be negative", c.Masters, c.ElectionTime, c.CommitTime)
	}
	if min(c.RemoteRate, c.ShuffleRate, c.Costs.DiskRate, c.Costs.TaskBytes, c.Costs.SplitMillis) < 0 {
		fault("rates of %d, %d and %d bytes/s, tasks of %d bytes, %d ms for the end of a part: none may be negative",
			c.RemoteRate, c.ShuffleRate, c.Costs.DiskRate, c.Costs.TaskBytes, c.Costs.SplitMillis)
	}
	for _, f := range c.Failures {
		faults = append(faults, f.validate(c.Machines))
	}
	return errors.Join(faults...)
}
