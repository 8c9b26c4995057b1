// Package disco is the preemptive fair scheduler of the paper on Disco: all running
// jobs have equal shares of the slots, and a new job gets its share at once.
//
//	slots 10, jobs in order of submission      a 4   b 3   c 3
//
// Shares are computed for each kind of slot. A job takes part from its submission until its
// last task of that kind has finished, except while it is suspended. Slots that remain after
// rounding go to the oldest jobs. If there are fewer slots than jobs, only the oldest have a
// share.
//
// A free slot goes to the job with the fewest slots among those below their share, and of
// equal jobs to the oldest. A new job has no slots and so comes first. If no job is below
// its share, the slot goes to the job with the fewest. No slot stays free that a job could
// use, with one exception: the slots of a job between two stages. All tasks that such a job
// can run are running, and its next stage wants slots as soon as their output is complete.
// Free slots are therefore reserved for the job, up to its share, for Config.ReserveMillis
// each.
//
// A job that has never had as many slots as its share preempts others: the job that is most
// above its share loses its youngest attempt. This repeats until there are enough slots or
// no job is above its share. Slots that are about to come free count already. Attempts of
// unknown progress are not preempted. No attempt is preempted for a part of a bundle that is
// larger than the share. A job causes at most as many preemptions as its share, since freed
// slots may go to others.
//
// Jobs keep their places in the order (package sharetree). Shares are computed again when a
// job starts or ceases to take part. Any other change takes time for its own job only. A
// decision takes time in proportion to the free slots and the new jobs.
//
// How many slots were freed for a job is not in the replicated state, so Reset sets these
// counts to zero. Everything else follows from the state.
package disco
