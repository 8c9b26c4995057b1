// Package chronos makes any policy aware of failures, after Chronos (Yildiz et al.).
// Tasks lost with a machine run again at once and where their input is, in slots taken
// from jobs with a lesser claim. Without it they wait until slots come free somewhere.
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
// The wrapped policy compares the claims of jobs (sched.JobComparer); without that, the
// order of submission counts. Chronos preempts only where the policy allows it, one
// attempt of a job at a time, and then asks again: it stops as soon as the policy's
// objective holds. Each lost task preempts at most one attempt, so a failure causes at
// most as many preemptions as it lost tasks, however often Decide is called. A task
// whose promised slot is lost with another machine counts as lost with that one. With
// as many failures as the input survives, one less than its replicas, that is the
// paper's bound.
//
// A slot that is freed for a task is promised to it on that very machine. No other task
// gets the slot, and the task starts nowhere else, until it has started, is not needed
// any more, or Config.Reserve is over. Slots elsewhere that the wrapped policy gives
// such a task go to other tasks of its stage, or stay free meanwhile. Apart from that
// the wrapped policy decides how many slots each job gets; Chronos decides which of the
// job's tasks get them first. While nothing is lost, plans pass unchanged.
//
// Reduces have input on all machines, and prefer those with most of the map output.
// Nothing is preempted for a map without a replica of its input, nor for bundles or at
// their expense: the wrapped policy alone recovers those. An attempt without a progress
// report since the failure is not preempted.
//
// The tasks to be recovered follow from the replicated state. Promises do not: Reset
// assigns the slots that attempts are about to leave to the tasks that they may be
// meant for.
package chronos
