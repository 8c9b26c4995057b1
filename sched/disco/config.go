package disco

import (
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Config configures the scheduler.
type Config struct {
	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// ReserveMillis is how long a slot that has come free is reserved for a job between
	// two stages, in ms. 0 is twice Preempt.SlotFreeLatency, the time until the master
	// knows that a slot is free, but at most MaxReserveMillis. The setting is
	// hammr.disco.transition.hold.
	ReserveMillis int64
}

// MaxReserveMillis limits the default of Config.ReserveMillis.
const MaxReserveMillis = 10_000

func (c *Config) ensureDefaults() {
	if c.ReserveMillis <= 0 {
		c.ReserveMillis = min(MaxReserveMillis, 2*c.Preempt.WithDefaults().SlotFreeLatency)
	}
}
