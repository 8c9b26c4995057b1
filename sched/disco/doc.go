// Package disco is the preemptive fair scheduler of the paper on Disco: every
// running job has the same share of the slots, and one that is new gets its own at
// once.
//
//	slots 10, jobs in order of submission      a 4   b 3   c 3
//
// By kind of slot, a job takes part from its submission until its last task of that
// kind has finished, but for the time that it is suspended. Slots that are left over
// when shares are rounded go to the oldest jobs; with fewer slots than jobs only they
// have a share.
//
// A free slot is for the job with the fewest below its share, the oldest of equals:
// so a new job, which has none, comes before all that have some. When nobody is
// below its share it goes to the job with the fewest, and none stays free that
// somebody could use, but for one reason: the slots of a job between two stages. All
// that it has to do at the moment runs, and its next stage will want slots as soon
// as that is written. So slots that come free are kept for it, as far as its share
// goes, for Config.Hold each.
//
// A job that has never been given as many slots as its share has room made for it:
// whoever is most above the share loses what started last, and again, until there
// is enough or nobody is above. Slots that are on their way already count, attempts
// of which nothing is known are spared, and of a bundle that is larger than the
// share nobody dies for a part. No job causes more than its share of preemptions: what
// comes free may be somebody else's turn.
//
// Jobs keep their seats in the order of their turn (package deal). Shares are
// divided again when jobs begin or end to take part; any other change costs its own
// job, and a decision the slots that are free and the jobs that are new.
//
// How many slots were freed for a job is not in the replicated state, so Reset
// begins to count anew. All else follows from the state.
package disco
