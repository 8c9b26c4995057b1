// Package hammr is the scheduler of Hammr's paper. A slot goes down three levels:
//
//	pool     the one with the fewest running slots for its weight
//	  job      in the pool's order: fair, fifo, drf, or a sched.Ranker
//	    bundle   the first one that can start; its slots are reserved if too few are free
//
// One min-cost flow then finds machines for all that have got slots, so that they read
// as few bytes over the network as possible. A pool that has had less than two thirds
// of its fair share for too long takes slots from pools above theirs.
//
// These are the levels of package fair without minima and with machines filled up as
// work comes, so a Policy is a fair.Policy with such a configuration. What package fair
// documents about unused slots, clocks and Reset holds here. Pools come from the same
// file; its minima, time-outs and thresholds are ignored. If the order of the root is
// drf, pools are compared by the kind of slot of which they use most.
package hammr
