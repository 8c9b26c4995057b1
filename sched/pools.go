package sched

import (
	"math"

	"github.com/hammr/hammr/cluster"
)

// PoolReporter is a policy that divides the cluster among pools.
type PoolReporter interface {
	// Pools are those that jobs can be in, by name: all that are described, and
	// all that have jobs; nil when it knows none after all. It changes nothing.
	Pools(now int64, view View) []Pool
}

// Pool is what a pool gets, and ought to have now.
type Pool struct {
	Name       string
	Weight     float64
	Min        Slots
	Max        Slots      // Unlimited for none
	MaxJobs    int        // that run at a time; Unlimited for none
	Order      string     // of its jobs, as in "fair"
	Share      [2]float64 // slots of each kind
	QueuedJobs int        // jobs that may not run yet because there are too many
}

// JobLimiter is a policy under which jobs may have no more than so many slots.
type JobLimiter interface {
	// Limit is the most slots that a job may have at a time, whatever is free:
	// Unlimited of a kind for any number. It changes nothing.
	Limit(job *cluster.Job) Slots
}

// Unlimited is a maximum that there is not.
const Unlimited = math.MaxInt

// StateTransfer is a policy that can go on where another was that it takes the place of,
// set otherwise perhaps.
type StateTransfer interface {
	// TransferFrom takes over what cannot be found in the state, such as for how long
	// somebody has waited. It follows Reset; a policy of another kind leaves
	// nothing. Either of the two may be inside of a Wrapper.
	TransferFrom(from Policy)
}
