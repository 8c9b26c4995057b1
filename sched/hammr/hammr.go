package hammr

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/pool"
)

// Defaults of Config. The paper gives the threshold; the timeout, in ms, leaves time for
// slots to come free by themselves.
const (
	DefaultThreshold = 2. / 3
	DefaultTimeout   = 15_000
)

// Config is the configuration. The zero value is the configuration of the paper, without an
// allocation file.
type Config struct {
	// Allocations are the pools; with nil, every pool gets the same share.
	Allocations *pool.Allocations

	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// Rankers are additional orders of the jobs of a pool, as in fair.Config.
	Rankers map[pool.Order]sched.Ranker

	// IgnoreLocality places tasks without regard to where their input lies, for the paper's
	// comparison with its flow. Jobs that name a placement keep their placement.
	IgnoreLocality bool

	NoPreemption bool    // no pool takes slots from others
	Threshold    float64 // the part of its fair share below which a pool starves, at most 1; 0 is 2/3
	Timeout      int64   // time that a pool starves before it takes slots, ms; 0 is 15 s
}

func (c *Config) ensureDefaults() {
	if c.Allocations == nil {
		c.Allocations = pool.Empty()
	}
	if !(c.Threshold > 0 && c.Threshold <= 1) {
		c.Threshold = DefaultThreshold
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IgnoreLocality {
		c.Placement.Method, c.Placement.Patience = sched.None, 0
	}
}

// Policy is Hammr's scheduler.
type Policy struct{ *fair.Policy }

// New returns the scheduler. Call Reset before any other method.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{fair.New(fair.Config{
		Allocations: conf.pools(conf.Allocations),
		Placement:   conf.Placement,
		Preempt:     conf.Preempt,
		Rankers:     conf.Rankers,
		Preemption:  !conf.NoPreemption,
		LoadMaxDiff: 1,
	})}
}

// pools returns the pools of a file as this policy uses them.
func (c Config) pools(a *pool.Allocations) *pool.Allocations {
	return a.Revise(func(p *pool.Pool) {
		p.Min, p.MinTimeout = cluster.Slots{}, pool.Never
		p.Threshold, p.FairTimeout = c.Threshold, c.Timeout
	})
}
