// Package hfsp is the Hadoop Fair Sojourn Protocol: the job that would finish first if
// all jobs shared the cluster gets all the slots it can use.
//
// The maps of a job, and its reduces, are a phase each. The size of a phase is the sum of
// the times for which its tasks occupy slots. Phases run on a virtual cluster, which has as
// many slots as the real one and is shared by all of them. The phase that finishes first on
// the virtual cluster is served first on the real one. It finishes no later than on the
// virtual cluster if sizes are right and slots come free:
//
//	attempts ──▶ samples ──▶ size ──▶ virtual cluster ──▶ order ──▶ slots, claims
//	             sample.go   Estimator  virtual.go        model     allocate.go claims.go
//
// Sizes are estimated. A phase in training gets slots for its first tasks, its samples,
// regardless of its order. Until they have finished, or have run long enough to be projected
// by their progress, its size is a guess from other jobs. Samples choose their machines
// before all other tasks, since a sample that reads remote input is not typical. But they do
// not wait for machines. When a size changes, the phase keeps what it has received on the
// virtual cluster. A phase that is done on the virtual cluster but not on the real one is
// larger than estimated. It is late, and comes before all others. Late phases share slots by
// weight, so that a phase with a large error does not delay phases with small errors (PSBS).
//
// If Config.Preempt allows it, a phase takes slots from phases that finish later by a
// margin: from their youngest attempts first, never from late phases or from samples.
// Suspended attempts resume on their machines, the oldest first. Claims are not stored: an
// attempt that ends by itself satisfies a claim.
//
// Reduces whose maps have no slots get no slots. They would keep the slots from other jobs
// until their maps have run.
//
// With Config.ShareMillis, a user that has been below its share of the slots for so long gets
// slots before all others (users.go).
//
// The events of the virtual cluster follow from the records of the state, with the
// times at which they happened. Reset therefore replays them and arrives at the same
// result, except for what the state does not record: former numbers of slots, former
// priorities, retired jobs, sizes judged by progress, and whether the number of
// suspended attempts has fallen to the low-water mark. Reset also restarts the clocks of users.
//
// Settings that Hadoop's HFSP also has have the same names; package registry reads them.
// Times are ms.
//
//	mapred.hfsp-scheduler.trainer.min-maps             Samples           5
//	mapred.hfsp-scheduler.trainer.min-reduces          Samples           5
//	mapred.hfsp-scheduler.train-map-slots              TrainSlots        a quarter of all
//	mapred.hfsp-scheduler.train-reduce-slots           TrainSlots        a quarter of all
//	mapred.hfsp-scheduler.duration-modifier-map        UnknownSizeFactor 1; inf
//	mapred.hfsp-scheduler.duration-modifier-reduce     UnknownSizeFactor 1; inf
//	mapred.hfsp-scheduler.initial-map-duration         InitialMillis     60000
//	mapred.hfsp-scheduler.initial-reduce-duration      InitialMillis     60000
//	mapred.hfsp-scheduler.sojourn-trainer.reduce.time  DeltaMillis       60000; never
//	mapred.hfsp-scheduler.preemption-strategy          Preempt           eager, wait, kill
//	hammr.hfsp.suspended.max                           MaxSuspended      as many as slots
//	hammr.hfsp.user.share.timeout                      ShareMillis       none
//	hammr.hfsp.estimator                               Estimator         mean; lognormal, oracle
//	hammr.hfsp.size-error                              NoisyEstimator    0
//	hammr.hfsp.size-error-law                          NoisyEstimator    lognormal; uniform
//	hammr.hfsp.seed                                    NoisyEstimator    0
//
// Strategy eager waits for maps and suspends reduces, as in the paper. Without a
// strategy slots are taken in the mode that the caller of the registry gives, or not at all.
package hfsp
