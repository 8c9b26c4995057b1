// Package hfsp is the Hadoop Fair Sojourn Protocol: whose work would be done first
// if all shared the cluster gets all of it first.
//
// The maps of a job, and its reduces, are a phase each, with a size: for how long
// its tasks hold slots, one after the other. Phases run on a virtual cluster,
// which has as many slots as the real one and is shared by all of them; who is done
// there first comes first here, and is done no later here than there as far as
// sizes are right and slots can be had:
//
//	attempts ──▶ samples ──▶ size ──▶ virtual cluster ──▶ order ──▶ slots, claims
//	             sample.go   Estimator  virtual.go        model     deal.go claims.go
//
// Nobody tells sizes. A phase in training has the slots that its first tasks take,
// whatever its turn, and a size that is guessed from those of others until these
// are through, or have run for so long that their progress tells. They choose their
// machines before all other tasks, since one that reads from afar is not like the
// rest, but wait for none. What a phase got
// on the virtual cluster stays when its size changes. A phase that is done there and
// not here was larger than was thought: it is late, and comes before all others;
// late ones share by weight, so that one which is late by hours does not keep others
// waiting (PSBS).
//
// With Means that are not to wait, a phase takes slots from those that are done
// later than itself by a margin, from the youngest attempts first, never from late
// ones or from samples; attempts that stand still go on where they are, the oldest
// first. Nothing is remembered of claims: whoever ends by himself has answered one.
//
// Reduces whose maps have no slots get none. They would keep them from others until
// these maps have had their turn.
//
// What happens on the virtual cluster is told from the records of the state, at the
// time at which it happened. So Reset tells it again and comes to the same, but for
// what no state records: slots that the cluster had before, other priorities, jobs
// that are retired, sizes judged by progress, and whether suspended attempts have
// come down to where more may be suspended.
//
// These settings go by the names that Hadoop's HFSP has for them, as far as it has;
// sched/registry reads them. Times are ms.
//
//	mapred.hfsp-scheduler.trainer.min-maps             Samples         5
//	mapred.hfsp-scheduler.trainer.min-reduces          Samples         5
//	mapred.hfsp-scheduler.train-map-slots              TrainSlots      a quarter of all
//	mapred.hfsp-scheduler.train-reduce-slots           TrainSlots      a quarter of all
//	mapred.hfsp-scheduler.duration-modifier-map        Doubt           1; inf
//	mapred.hfsp-scheduler.duration-modifier-reduce     Doubt           1; inf
//	mapred.hfsp-scheduler.initial-map-duration         InitialMillis   60000
//	mapred.hfsp-scheduler.initial-reduce-duration      InitialMillis   60000
//	mapred.hfsp-scheduler.sojourn-trainer.reduce.time  DeltaMillis     60000; never
//	mapred.hfsp-scheduler.preemption-strategy          Means           eager, wait, kill
//	hammr.hfsp.estimator                               Estimator       mean; lognormal, oracle
//	hammr.hfsp.size-error                              Erring.Error    0
//	hammr.hfsp.size-error-law                          Erring.Law      lognormal; uniform
//	hammr.hfsp.seed                                    Erring.Seed     0
//
// Eager waits for maps and suspends reduces, as in the paper. Without a strategy
// slots are taken as the caller of sched/registry says, or not at all.
package hfsp
