package disco

import (
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Config is how the scheduler is set up.
type Config struct {
	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// ReserveMillis is for how long a slot that has come free is kept for a job between
	// two stages, in ms. 0 is twice what it takes to hear of a free slot,
	// Means.Heartbeat, but at most MaxReserveMillis.
	ReserveMillis int64
}

// MaxReserveMillis bounds the default of Config.Hold, in ms.
const MaxReserveMillis = 10_000

func (c *Config) ensureDefaults() {
	if c.ReserveMillis <= 0 {
		c.ReserveMillis = min(MaxReserveMillis, 2*c.Preempt.WithDefaults().SlotFreeLatency)
	}
}
