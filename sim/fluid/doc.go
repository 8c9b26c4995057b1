// Package fluid is one server of rate 1 that can be divided at will, under the
// disciplines of the textbooks: what the policies of a cluster come close to
// where slots and tasks are many and small. It serves as an oracle for them.
//
//	jobs, err := fluid.ReadJobs("jobs.csv", file)
//	sojourns, err := fluid.Sojourns("psbs", jobs)  // one for each job, in seconds
//
// A discipline says who is served until something happens: a job arrives, one
// is done, or the order changes by itself, as when a job is done in the world
// that a discipline imagines. Between two such events nothing but time passes,
// so time goes from event to event and there are at most three for each job:
//
//	arrive ─► horizon ─► pass      the next arrival comes first
//	              └────► happen    or what the discipline foresees does
//
// Ties, jobs that a discipline holds for equal, go to the job that arrived
// first, and of those that arrive at the same time to the smaller id as a
// string. A job of size 0 is done as soon as it is its turn, which under fifo
// may be late.
//
// A number from outside stands for the shortest decimal that denotes it: 0.1 is
// a tenth. Inside, numbers have 192 bits, and those that agree to within 1e-24 s
// are a tie. So a tie on paper is a tie here, whatever sums lead to it, and the
// sojourn time of a job of a microsecond is right to its last digit at the end
// of a day's backlog, where a float64 clock has five digits left.
//
// Everything is a function of its arguments and starts no goroutine.
package fluid
