package disco

import (
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Config is how the scheduler is set up.
type Config struct {
	Placement sched.Placement
	Means     preempt.Means // how slots are taken from running tasks

	// Hold is for how long a slot that has come free is kept for a job between
	// two stages, in ms. 0 is twice what it takes to hear of a free slot,
	// Means.Heartbeat, but at most MaxHold.
	Hold int64
}

// MaxHold bounds the default of Config.Hold, in ms.
const MaxHold = 10_000

func (c *Config) ensureDefaults() {
	if c.Hold <= 0 {
		c.Hold = min(MaxHold, 2*c.Means.WithDefaults().Heartbeat)
	}
}
