package sim

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim/workload"
)

// Config is the simulated cluster. Zero values stand for the defaults.
//
// It is a value that a run copies, but Policy and the functions are shared: use a new
// Policy for each run.
type Config struct {
	Policy sched.Policy // schedules the cluster; no default. A policy has state, so each run needs a new one.

	Machines    int // number of machines; no default
	MapSlots    int // of each machine; default 1, negative for none
	ReduceSlots int // of each machine; default 1, negative for none
	// MemoryMB is how much memory the tasks of a machine may take together, in MiB; default 0,
	// any amount.
	MemoryMB int64
	// SharedSlots runs reduces in map slots, as engines with one kind of slots do. They
	// start when all maps of their job have finished.
	SharedSlots bool
	Racks       int // machines are assigned to them in turn; default 1
	Replication int // copies of each block of input, on different machines; default 3, at most Machines
	Seed        uint64

	// ReportInterval is the time between two moments at which a machine sends its reports, in ms.
	// A report waits for the next moment. Default 0: every report is sent at once.
	ReportInterval int64
	// Latency of a message, in ms; default 5, negative for none.
	Latency int64
	// ProgressInterval is how often a running attempt reports its progress, in ms; default
	// 3000, negative for never.
	ProgressInterval int64

	// RemoteRate is the rate of reading input from another machine, in bytes/s. The time
	// adds to the time of the map. Default 100 MB/s.
	RemoteRate int64
	// ShuffleRate is the rate at which one reduce copies, in bytes/s; default 50 MB/s.
	ShuffleRate int64
	// Costs of preemption. A policy that estimates costs should get the same values.
	// SlotFreeLatency is used by policies only.
	Costs preempt.Costs

	// Failures of machines, in any order.
	Failures []Failure
	// Expiry is the silence after which a machine is declared lost, in ms; default 10,000.
	Expiry int64

	// InjectFaults is called at the start of a run, and again after the number of ms that it
	// returns; 0 ends the calls. Default nil.
	InjectFaults func(*Simulation) (again int64)
	// OnFailpoint returns the effect when an attempt or a master reaches a failpoint;
	// default no effect.
	OnFailpoint func(*Simulation, FailpointHit) Effect
	// Masters is the number of masters; default 1. If the leader is lost and a majority is
	// left, another one leads ElectionTime ms later; default 1000.
	Masters      int
	ElectionTime int64
	// CommitTime is the time to rename one part of a job's output, in ms; default 0.
	CommitTime int64

	// CheckInvariants checks the state after every change, which is slow.
	CheckInvariants bool

	// OnDecision receives each scheduling decision, in order, with times in ms since the
	// start of the run. Default nil.
	OnDecision func(sched.Decision)

	// OnProgress receives the number of finished jobs and the time, every 1024 steps.
	// Default nil.
	OnProgress func(over int, at int64)

	// OnEntries receives each batch of entries of the log, with times in ms since the state's epoch.
	// An error ends the run. Default nil.
	OnEntries func([]cluster.Entry) error

	Tasks      bool // list all attempts in the result
	UserShares bool // measure for how long users are below their shares
	Series     bool // record the slots of each job over time in the result
}

// Validate reports every error of the configuration, except for the policy and what depends
// on the workload.
func (c Config) Validate() error {
	c.ensureDefaults()
	return c.validate()
}

// ValidateFor reports every error of the configuration with a workload, except for the
// policy.
func (c Config) ValidateFor(w *workload.Workload) error {
	c.ensureDefaults()
	return errors.Join(c.validate(), c.validateTriggers(w), c.validateMemory(w))
}

// Where 0 is a meaningful setting, a negative number stands for it.
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

// validate reports every error of a configuration with its defaults.
func (c *Config) validate() error {
	errs := []error{
		validate.That(c.Machines >= 1, "sim: %d machines; expected at least 1", c.Machines),
		validate.That(c.MapSlots+c.ReduceSlots > 0, "sim: machines without slots; expected at least one map or reduce slot"),
		validate.That(c.Racks >= 1 && c.Replication >= 0 && min(c.ReportInterval, c.Expiry) >= 0,
			"sim: %d racks, %d copies, report interval %d ms, expiry %d ms: none may be negative",
			c.Racks, c.Replication, c.ReportInterval, c.Expiry),
		validate.That(min(int64(c.Masters), c.ElectionTime, c.CommitTime) >= 0,
			"sim: %d masters, elections of %d ms, commits of %d ms for each part: none may be negative", c.Masters, c.ElectionTime, c.CommitTime),
		validate.That(min(c.RemoteRate, c.ShuffleRate, c.Costs.DiskRate, c.Costs.TaskBytes, c.Costs.SplitMillis) >= 0,
			"sim: rates of %d, %d and %d bytes/s, tasks of %d bytes, %d ms to publish a split: none may be negative",
			c.RemoteRate, c.ShuffleRate, c.Costs.DiskRate, c.Costs.TaskBytes, c.Costs.SplitMillis),
		validate.That(c.MemoryMB >= 0 && c.MemoryMB <= workload.MaxMemoryMB, "sim: machines of %d MiB; expected 0 to %d", c.MemoryMB, int64(workload.MaxMemoryMB)),
	}
	for _, f := range c.Failures {
		errs = append(errs, f.validate(c.Machines))
	}
	return errors.Join(errs...)
}

// validateMemory reports the first job with a task that fits no machine: the run would never
// end.
func (c *Config) validateMemory(w *workload.Workload) error {
	for i := range w.Jobs {
		j := &w.Jobs[i]
		memory := j.EffectiveMemoryMB()
		if len(j.Reduces) == 0 {
			memory[1] = 0
		}
		if most := max(memory[0], memory[1]); c.MemoryMB > 0 && most > c.MemoryMB {
			return fmt.Errorf("sim: a task of job %q takes %d MiB, and the tasks of a machine may take %d MiB: use larger machines", j.ID, most, c.MemoryMB)
		}
	}
	return nil
}
