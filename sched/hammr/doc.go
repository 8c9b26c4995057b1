// Package hammr is the scheduler of Hammr's paper. A slot goes down three levels:
//
//	pool     the one with the fewest running slots for its weight
//	  job      in the pool's order: fair, fifo, drf, or a sched.Ranker
//	    bundle   the first one that can start; its slots are reserved if too few are free
//
// One min-cost flow then finds machines for all tasks that have got slots, so that they read
// as few bytes over the network as possible. A pool that has had less than two thirds of its
// fair share for too long takes slots from pools above theirs.
//
// These are the levels of package fair, without minima. A machine is filled up as work
// comes. So a Policy is a fair.Policy with such a configuration. The comments of package
// fair on unused slots, clocks and Reset also apply here. Pools come from the same file; its
// minima, time-outs and thresholds are ignored. If the order of the root is drf, pools are
// compared by their dominant share.
package hammr
