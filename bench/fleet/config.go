package fleet

import (
	"cmp"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/validate"
)

// Config describes the machines of a fleet.
type Config struct {
	// Masters are the addresses of the masters, host:port each; there is no default.
	Masters []string
	// Token and ClusterID are those of the cluster; there is no default.
	Token, ClusterID string
	// Machines is the number of machines; there is no default.
	Machines int
	// MapSlots and ReduceSlots are the slots of each machine; default 12 and 4.
	MapSlots, ReduceSlots int
	// RackSize is the number of machines in a rack; default 40.
	RackSize int
	// Heartbeat is the time between two heartbeats; default 1 s, as of tasknodes.
	Heartbeat time.Duration
	// Expiry is the masters' silence after which a machine is lost; default 10 s. The ledger
	// expects lost attempts only on machines that were silent for at least half of it.
	Expiry time.Duration
	// SlowPercent is the share of machines whose messages are delayed by SlowDelay each;
	// default 0. SlowDelay is 50 ms by default.
	SlowPercent int
	SlowDelay   time.Duration
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	c.MapSlots, c.ReduceSlots = cmp.Or(c.MapSlots, 12), cmp.Or(c.ReduceSlots, 4)
	c.RackSize = cmp.Or(c.RackSize, 40)
	c.Heartbeat, c.Expiry = cmp.Or(c.Heartbeat, time.Second), cmp.Or(c.Expiry, 10*time.Second)
	c.SlowDelay = cmp.Or(c.SlowDelay, 50*time.Millisecond)
}

// maxMachines is the number of addresses that addressOf makes.
const maxMachines = 60_000

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(len(c.Masters) > 0, "fleet: no Masters"),
		validate.That(c.Machines >= 1 && c.Machines <= maxMachines, "fleet: Machines is not within 1 to 60000"),
		validate.That(c.MapSlots >= 1 && c.ReduceSlots >= 1, "fleet: a machine needs a slot of each kind"),
		validate.That(c.SlowPercent >= 0 && c.SlowPercent <= 100, "fleet: SlowPercent is not within 0 to 100"),
	)
}
