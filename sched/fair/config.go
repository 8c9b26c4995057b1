package fair

import (
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
)

// Config configures a fair scheduler. The zero value is Hadoop's default without an
// allocation file.
type Config struct {
	// Allocations are the pools; with nil, every pool gets the same share.
	// mapred.fairscheduler.allocation.file.
	Allocations *pool.Allocations

	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// Rankers are orders of the jobs of a pool, which add to fair, fifo and drf or replace
	// them. A pool with order hfsp is fair if there is no Ranker for it.
	Rankers map[pool.Order]sched.Ranker

	// Preemption lets pools take slots from others; default false.
	// mapred.fairscheduler.preemption.
	Preemption bool

	// ConserveShares suspends or checkpoints attempts of jobs above their fair share for jobs
	// below theirs, first those that only wait for input (conserve.go). It has no effect
	// together with Preemption. Default false, which is Hadoop's behavior; the setting
	// hammr.fair.conserve.shares defaults to true.
	ConserveShares bool

	// SizeBasedWeight makes the weight of a job the logarithm of its demand; default
	// false. mapred.fairscheduler.sizebasedweight.
	SizeBasedWeight bool

	// NewJobBoost increases the weight of young jobs; default false.
	// mapred.fairscheduler.newjobboost.
	NewJobBoost bool

	// NewJobBoost multiplies a weight by BoostFactor until a job is BoostMillis old; default
	// 3, and 300,000 ms. mapred.newjobweightbooster.factor and .duration.
	BoostFactor float64
	BoostMillis int64

	// LoadMaxDiff is how much fuller than the cluster a machine may be, as a fraction of
	// its slots: 0 spreads a light load evenly, 1 or more fills machines up as work
	// comes. It does not apply while a bundle of several slots waits, or if no waiting task fits
	// what it leaves. Default 0.
	// mapred.fairscheduler.load.max.diff.
	LoadMaxDiff float64
}

// ensureDefaults replaces zero values and values out of range by the defaults. The registry
// has refused bad settings before, but tests and experiments make a Config directly.
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
	c.ConserveShares = c.ConserveShares && !c.Preemption
}
