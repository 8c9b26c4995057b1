// Package chronos makes any policy aware of failures, after Chronos (Yildiz et
// al.): what was lost with a machine runs again at once and where its input is,
// in slots that are taken from jobs with a lesser claim, instead of waiting until
// slots come free somewhere.
//
// The tasks to be recovered are those that wait because an attempt at them was
// lost: it ran on the machine, or its output lay there and is still needed.
// They go through four steps.
//
//	lost ─► local slot that the policy gives to their job anyway
//	     ─► fresh word of the attempts beside their input   (Config.Wait at most)
//	     ─► any slot that the policy gives to their job anyway
//	     ─► slot of the running attempt with the least claim (Algorithm 1), beside
//	        their input or, when they may preempt none of those, anywhere
//
// Whose claim is better is up to the policy inside, which is a sched.JobComparer;
// without one it is the order of submission. Chronos only preempts where that says
// so, one attempt of a job at a time, and asks again: so it stops as soon as the
// policy has what it wants. Of what was lost each task preempts one attempt at
// most, so as many are preempted for a failure as were lost by it, however often
// it is asked. A task whose promised slot is lost with a machine too counts as one
// of those lost with that one. With as many failures as input survives, one less
// than its replicas, that is the paper's bound.
//
// A slot that is freed for a task is promised to it on that very machine: nobody
// else gets it, and the task starts nowhere else, until it has started, is not
// needed any more, or Config.Reserve is over. What the policy inside gives such a task
// elsewhere goes to others of its stage, or stays free meanwhile. Apart from that the policy inside
// decides how many slots each job gets; here it is only decided which of the job's
// tasks has them first. While nothing is lost its plans pass unchanged.
//
// Reduces find their input on all machines, and prefer those with most of what
// maps have written. Nothing is preempted for a map of whose input no replica is
// left, nor in favour of bundles or at their expense: those are recovered by the
// policy inside alone. An attempt of which nothing has been heard since the failure
// is not preempted.
//
// What is to be recovered follows from the replicated state. Promises do not: Reset
// gives the slots that attempts are about to leave, as far as they may be meant for
// them, to tasks that are to be recovered.
package chronos
