package sched

import "github.com/hammr/hammr/cluster"

// Ranker is the order in which the jobs of one pool get slots. It is for policies
// that divide the cluster among pools and leave it to others what happens in
// each; one Ranker may serve several pools.
//
// Like a policy it is pure, and what it remembers is a cache.
type Ranker interface {
	// Reset forgets everything and looks at the state afresh.
	Reset(now int64, view View)

	// Observe hears of one applied change; view is the state after it.
	Observe(now int64, view View, delta cluster.Delta)

	// Rank compares the jobs of a queue at one moment: less than 0 says that a
	// slot goes to a rather than to b. No two jobs are equal. It is asked again
	// after each slot, when what the one that got it has is counted.
	Rank(now int64, view View, queue Queue) (compare func(a, b *Claimant) int)
}

// Queue is the jobs of a pool that want slots of one kind.
type Queue struct {
	Pool  string
	Kind  cluster.Slot
	Slots Slots   // of each kind that the cluster has
	Share float64 // of those of Kind, that the pool ought to have
	Jobs  []*Claimant
}

// Claimant is a job that wants slots. The counts are of slots by kind.
type Claimant struct {
	Job     *cluster.Job
	Running Slots // that it has or is about to get, without those of attempts that are told to end
	Demand  Slots // that it could use in all, so at least Running at first
	Weight  [2]float64
}
