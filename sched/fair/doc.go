// Package fair is Hadoop's fair scheduler. Pools share the slots by weight. Each pool has at
// least its minimum as long as it can use it. The jobs of a pool share its slots, or get
// them in fifo order.
//
// Slots are allocated one at a time. At each level of the tree of pools, and then among
// the jobs, the next slot goes to the neediest:
//
//	needy (below its minimum)  before  others
//	    ╰ least running/minimum          ╰ least running/weight
//
// Package sharetree does this, and package placement finds machines for all slots allocated
// in one round.
//
// With Preemption, a pool that has been below its minimum, or below a part of its fair
// share, for too long takes slots from pools above theirs. The youngest attempts lose their
// slots first. No pool falls below its fair share by preemption, and no attempt of unknown
// progress is preempted. Slots that are about to come free count already. How long a pool
// has lacked slots is not in the replicated state, so Reset restarts these clocks: a new
// leader preempts nothing at once. Everything else follows from the state.
//
// With ConserveShares, which excludes Preemption, shares are kept at once, also between the
// jobs of a pool, and no work is lost. Tasks whose input is complete get free slots first, and
// slots of reduces that only wait for their maps. Then jobs below their share get slots of
// jobs above theirs:
//
//	division.go   what each job has and is due, without attempts that only wait
//	waiting.go    whose attempts only wait
//	conserve.go   who takes a slot of whom
//
// A Policy counts slots as commands are applied, and keeps pools and jobs in their order.
// The time of a decision grows with the free slots, and the time of a change with the pools
// above its job. With Preemption, a decision visits all pools, and with
// ConserveShares all jobs that have or want slots. With a boost for new jobs,
// and under a sched.Ranker, it visits the jobs of the pools that get slots.
package fair
