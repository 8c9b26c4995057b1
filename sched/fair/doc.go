// Package fair is Hadoop's fair scheduler: pools share the slots by weight, each
// has at least its minimum while it wants it, and the jobs of a pool share what
// the pool has or stand in line for it.
//
// Slots are dealt one by one. Each goes down the tree of pools to whoever is most
// in need at every level, then to a job:
//
//	needy (below its minimum)  before  others
//	     ╰ least running/minimum          ╰ least running/weight
//
// Package deal does so, and the placement.Placer finds machines for all that are dealt
// in one round.
//
// With Preemption a pool that has been below its minimum, or below a part of its
// fair share, for too long has attempts killed in pools above theirs: the youngest
// first, none below its fair share, none of which nothing is known. Slots that
// are on their way already count. For how long a pool has lacked something is not
// in the replicated state, so Reset starts these clocks anew: a new leader
// preempts nothing at once. All else follows from the state.
//
// A Policy counts slots as changes come in, and pools and jobs keep their seats in
// the order of their turn, so that a decision costs the slots that are free and a
// change the pools around its job. With Preemption it costs all pools, with a
// boost for new jobs and under a sched.Ranker the jobs of pools that get something.
package fair
