// Package hammr is the scheduler of Hammr's paper: slots go down three levels.
//
//	pool     least running for its weight
//	  job      the pool's own order: fair, fifo, drf, or that of a sched.Ranker
//	    bundle   the first one that can start: all of it, or its slots are held
//
// Then one min-cost flow finds machines for all that have got slots, so that they
// read as few bytes over the network as can be. A pool that has had less than two
// thirds of its fair share for too long takes slots from pools above theirs.
//
// These levels are those of sched/fair, when no pool has a minimum and the cluster
// fills up as work comes. So a Policy is one of that package, set up in this way,
// and what is said there of slots that nobody can use, of clocks and of Reset holds
// here. Pools come from the same file: what it says of minima, time-outs and
// thresholds means nothing to this policy. With drf as the order of the root, pools
// go by the kind of slot of which they have most.
package hammr
