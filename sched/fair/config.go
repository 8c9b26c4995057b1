package fair

import (
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
)

// Config is how a fair scheduler is set up. The zero value is Hadoop's default
// without a file of allocations.
type Config struct {
	// Allocations are the pools; nil is none, where every pool gets the same.
	// mapred.fairscheduler.allocation.file.
	Allocations *pool.Allocations

	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// Rankers order the jobs of pools with such an order, beside or instead of
	// those that are known here: fair, fifo and drf. A pool in hfsp order is
	// fair when there is none for it.
	Rankers map[pool.Order]sched.Ranker

	// Preemption lets pools take slots from others; default false.
	// mapred.fairscheduler.preemption.
	Preemption bool

	// SizeBasedWeight has a job weigh the logarithm of its demand; default
	// false. mapred.fairscheduler.sizebasedweight.
	SizeBasedWeight bool

	// NewJobBoost has young jobs weigh more; default no.
	// mapred.fairscheduler.newjobboost.
	NewJobBoost bool

	// BoostFactor and BoostMillis are by how much and until which age; 0 is 3,
	// and 300,000 ms. mapred.newjobweightbooster.factor and .duration.
	BoostFactor float64
	BoostMillis int64

	// LoadMaxDiff is how much fuller than the cluster a machine may be, as a
	// part of its slots: with 0 a light load is spread evenly, with 1 or more
	// machines are filled up as it comes. Bundles that wait lift the bound.
	// Default 0. mapred.fairscheduler.load.max.diff.
	LoadMaxDiff float64
}

// ensureDefaults fills in what is left out.
func (c *Config) ensureDefaults() {
	if c.Allocations == nil {
		c.Allocations = pool.Empty()
	}
	if !(c.BoostFactor > 0) {
		c.BoostFactor = 3
	}
	if c.BoostMillis <= 0 {
		c.BoostMillis = 300_000
	}
	if !(c.LoadMaxDiff > 0) {
		c.LoadMaxDiff = 0
	}
}
