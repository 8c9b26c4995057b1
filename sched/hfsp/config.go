package hfsp

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Config configures HFSP. Arrays have one value for maps and one for reduces. The zero value
// is the paper's setting without preemption.
type Config struct {
	Placement sched.Placement

	// Preempt says how slots are taken from running tasks. If it names no mode, nothing is
	// preempted. This differs from the zero value of preempt.Config.
	Preempt preempt.Config

	// MaxSuspended is the number of slots of a kind from which on no more attempts that had them
	// are suspended; a negative value is none. Default: as many as the cluster has.
	MaxSuspended int

	// ShareMillis is how long a user may be below its share of the slots before it gets them
	// first (users.go). Work is kept then, unless Preempt names kill. Default 0: the order is
	// HFSP's alone.
	ShareMillis int64

	// Estimator computes sizes from samples; default Mean.
	Estimator Estimator

	// Samples is the number of tasks of a phase that are timed before its size counts as
	// known; default 5.
	Samples [2]int

	// TrainSlots is the number of slots that samples may have at once while other tasks want
	// slots too. The default is a quarter of the cluster's slots, at least one. One slot is
	// always left to other tasks, since otherwise they would wait as long as jobs arrive. A
	// negative value is none: samples run when it is their job's turn.
	TrainSlots [2]int

	// UnknownSizeFactor multiplies the guessed size of a phase in training (the paper's
	// xi, at least 1); default 1. With infinity such phases run only if no job of known
	// size wants slots.
	UnknownSizeFactor [2]float64

	// InitialMillis is the guessed duration of a task while no job has been sized;
	// default 60,000 ms.
	InitialMillis [2]int64

	// DeltaMillis is how long a sample runs before it is judged by its progress (the
	// paper's Delta); default 60,000 ms. Negative is never.
	DeltaMillis int64
}

// ensureDefaults replaces zero values by the defaults.
func (c *Config) ensureDefaults() {
	if c.Estimator == nil {
		c.Estimator = Mean{}
	}
	for kind := range c.Samples {
		if c.Samples[kind] <= 0 {
			c.Samples[kind] = 5
		}
		if !(c.UnknownSizeFactor[kind] >= 1) {
			c.UnknownSizeFactor[kind] = 1
		}
		if c.InitialMillis[kind] <= 0 {
			c.InitialMillis[kind] = 60_000
		}
	}
	if c.DeltaMillis == 0 {
		c.DeltaMillis = 60_000
	}
	if c.Preempt.Map == "" && c.Preempt.Reduce == "" {
		c.Preempt.Map, c.Preempt.Reduce = preempt.Wait, preempt.Wait
	}
}

// preempts reports whether slots of a kind may be taken from running tasks.
func (c *Config) preempts(kind cluster.Slot) bool {
	if kind == cluster.MapSlot {
		return c.Preempt.Map != preempt.Wait
	}
	return c.Preempt.Reduce != preempt.Wait
}

// keepsWork reports whether attempts that cannot keep their work keep their slots.
func (c *Config) keepsWork(kind cluster.Slot) bool {
	mode := c.Preempt.Reduce
	if kind == cluster.MapSlot {
		mode = c.Preempt.Map
	}
	return c.ShareMillis > 0 && mode != preempt.Kill
}

// trainSlots returns how many of the cluster's slots samples may have.
func (c *Config) trainSlots(kind cluster.Slot, slots int) int {
	n := c.TrainSlots[kind]
	if n == 0 {
		n = max(slots/4, 1)
	}
	return max(min(n, slots-1), 0)
}
