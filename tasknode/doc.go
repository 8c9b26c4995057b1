// Package tasknode is the daemon of each worker machine. It runs attempts and reports their
// progress and results to the jobmaster.
//
// A Daemon receives orders from its Link and sends reports to it. It starts tasks with
// its Launcher, as child processes or as goroutines, and exchanges messages of package
// taskproc with each. It decides nothing: the jobmaster chooses which attempts run.
// Orders are idempotent, so an order that arrives twice has no effect the second time.
// The final report of an attempt is sent again to each new master until one of them
// acknowledges it.
//
// The program of a tasknode can be replaced while attempts run: HandOver gives their state to
// the next program, whose Daemon gets it in Config.Handover.
//
// Goroutines: Run is one loop that owns the tables of attempts and jobs. Each attempt
// has one goroutine that runs it from start to final report, one that reads from its
// task and one that writes to it. All three end with the attempt. Each local directory has
// one goroutine that reads records and one that removes files. The session, each copy of
// an output, each job whose logs are aggregated and each process that cannot be killed have
// one. They send to the loop through a mailbox, and Run waits for all of them.
package tasknode
