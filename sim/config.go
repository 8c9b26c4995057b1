package sim

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hammr/hammr/sched"
)

// Config is the cluster that is played. Zero values stand for the defaults.
type Config struct {
	Policy sched.Policy // that gives out slots; no default. A run uses it up.

	Nodes       int // machines; no default
	MapSlots    int // of each machine; default 1, negative for none
	ReduceSlots int // likewise
	Racks       int // into which machines are dealt in turn; default 1
	Replication int // copies of each block of input, on different machines; default 3, at most Nodes
	Seed        uint64

	// Heartbeat is how long a machine keeps what it has to say, in ms. By
	// default it says everything at once.
	Heartbeat int64
	// Latency is how long a message is under way, in ms; default 5, negative for
	// none.
	Latency int64
	// Progress is how often a running attempt says how far it is, in ms. By
	// default it never does.
	Progress int64

	// RemoteRate is how fast input is read from another machine, in bytes/s:
	// what that takes comes on top of a map's time. Default 100 MB/s.
	RemoteRate int64
	// ShuffleRate is how fast one reduce copies, in bytes/s; default 50 MB/s.
	ShuffleRate int64
	// CheckpointRate is how fast the state of a task is written, in bytes/s;
	// default 100 MB/s. It is TaskBytes large.
	CheckpointRate int64
	// TaskBytes is the memory of a task; default 1 GB.
	TaskBytes int64

	// Failures are machines that are lost, in any order.
	Failures []Failure
	// CheckInvariants has the state looked through after every change, which is
	// slow.
	CheckInvariants bool

	// Decisions hears what is decided about slots, in the order in which it is;
	// times are ms since the start of the run. Default nobody.
	Decisions func(sched.Decision)

	// Expiry is how long a machine is silent before it is given up, in ms; default
	// 10,000.
	Expiry int64
}

// Failure is the loss of a machine.
type Failure struct {
	Node int   // number of the machine, from 0
	At   int64 // ms
	Back int64 // ms after which it is back, empty; 0 for never
}

// Check names everything that is wrong with the configuration, but for the
// policy.
func (c Config) Check() error {
	c.ensureDefaults()
	return c.check()
}

func (c *Config) ensureDefaults() {
	c.MapSlots, c.ReduceSlots = max(cmp.Or(c.MapSlots, 1), 0), max(cmp.Or(c.ReduceSlots, 1), 0)
	c.Racks = cmp.Or(c.Racks, 1)
	c.Replication = min(cmp.Or(c.Replication, 3), c.Nodes)
	c.Latency = max(cmp.Or(c.Latency, 5), 0)
	c.RemoteRate = cmp.Or(c.RemoteRate, 100e6)
	c.ShuffleRate = cmp.Or(c.ShuffleRate, 50e6)
	c.CheckpointRate = cmp.Or(c.CheckpointRate, 100e6)
	c.TaskBytes = cmp.Or(c.TaskBytes, 1e9)
	c.Expiry = cmp.Or(c.Expiry, 10_000)
}

// check names every fault at once.
func (c *Config) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("sim: "+format, args...)) }
	if c.Nodes < 1 {
		fault("%d machines; at least 1", c.Nodes)
	}
	if c.MapSlots+c.ReduceSlots == 0 {
		fault("machines without slots")
	}
	if c.Racks < 1 || c.Replication < 0 || c.Heartbeat < 0 || c.Progress < 0 || c.Expiry < 0 {
		fault("%d racks, %d copies, heartbeat %d ms, progress %d ms, expiry %d ms: none may be negative",
			c.Racks, c.Replication, c.Heartbeat, c.Progress, c.Expiry)
	}
	if min(c.RemoteRate, c.ShuffleRate, c.CheckpointRate, c.TaskBytes) < 0 {
		fault("rates of %d, %d and %d bytes/s, tasks of %d bytes: none may be negative",
			c.RemoteRate, c.ShuffleRate, c.CheckpointRate, c.TaskBytes)
	}
	for _, f := range c.Failures {
		if f.Node < 0 || f.Node >= c.Nodes || f.At < 0 || f.Back < 0 {
			fault("failure of machine %d at %d ms for %d ms: there are machines 0 to %d", f.Node, f.At, f.Back, c.Nodes-1)
		}
	}
	return errors.Join(faults...)
}
