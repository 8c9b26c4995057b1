// Package fluid simulates one server of rate 1 that divides its capacity without limit,
// under textbook disciplines. The policies of a cluster approach it if slots and tasks are
// many and small, so it serves as an oracle for them.
//
//	jobs, err := fluid.ReadJobs("jobs.csv", file)
//	sojourns, err := fluid.Sojourns("psbs", jobs)  // one for each job, in seconds
//
// A discipline decides which jobs are served until the next event: an arrival, a completion,
// or a change of the order, such as a completion in the virtual server of fsp. Time jumps
// from event to event, and there are at most three for each job. An event takes time in
// proportion to the jobs that are there:
//
//	shares ─► horizon ─► elapse ─► arrive      the next arrival comes first
//	               └───► elapse to the horizon  a completion, or a change of the order
//
// Jobs that a discipline ranks equal are a tie. A tie goes to the job that arrived first,
// then to the smaller id as a string. A job of size 0 completes as soon as it is its turn,
// which may be late under fifo.
//
// A number from outside means the shortest decimal that denotes it: 0.1 is a tenth. Inside,
// numbers have 192 bits, and values within 1e-24 s are equal. So a tie on paper is a tie
// here. The sojourn time of a job of a microsecond is exact after a day's backlog, where a
// float64 clock has five digits left.
//
// Every function depends on its arguments only. There are no goroutines.
package fluid
