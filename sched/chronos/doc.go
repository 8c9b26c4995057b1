// Package chronos makes any policy aware of failures, after Chronos (Yildiz et al.). Tasks
// lost with a machine run again at once and where their input is, in slots taken from jobs
// of lower priority. Without Chronos they wait until slots come free anywhere.
//
// A task is recovered if it waits because an attempt at it was lost: the attempt ran on
// the machine, or its output was there and is still needed. Recovery has four steps:
//
//	lost ─► local slot that the policy gives to the job anyway
//	    ─► wait for fresh progress reports of attempts near the input (Config.Wait at most)
//	    ─► any slot that the policy gives to the job anyway
//	    ─► slot of the running attempt with the least claim (Algorithm 1): near the
//	       input or, if no such attempt may be preempted, anywhere
//
// The wrapped policy compares jobs (sched.JobComparer); if it cannot, the order of
// submission counts. Chronos preempts only where the policy allows it, one attempt of a job
// at a time, and then asks again: it stops as soon as the policy's objective holds. Each
// lost task preempts at most one attempt, so a failure causes at most as many preemptions as
// it lost tasks, however often Decide is called. A task whose promised slot is lost with
// another machine counts as lost with that machine. The input survives one failure less than
// it has replicas. Up to that many failures, this is the paper's bound.
//
// A slot that is freed for a task is promised to it on that very machine. No other task gets
// the slot, and the task starts nowhere else, until it has started, is not needed any more,
// or Config.Reserve is over. Slots elsewhere that the wrapped policy gives such a task go to
// other tasks of its stage, or stay free meanwhile. Apart from that the wrapped policy
// decides how many slots each job gets; Chronos decides which of the job's tasks get them
// first. While nothing is lost, plans are not changed.
//
// Reduces have input on all machines, and prefer those with most of the map output. Chronos
// preempts nothing for a map without a replica of its input. It neither preempts for bundles
// nor preempts bundles. Such maps and bundles are recovered by the wrapped policy alone. An
// attempt without a progress report since the failure is not preempted.
//
// The tasks to be recovered follow from the replicated state. Promises do not: Reset assigns
// the slots that attempts are about to leave to tasks that may have been promised them.
package chronos
