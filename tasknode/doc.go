// Package tasknode is the daemon on each worker machine: it runs attempts and
// tells the jobmaster what becomes of them.
//
// A Node takes orders from its Link and sends reports to it. It starts tasks
// with its Launcher, as child processes or as goroutines, and speaks package
// taskproc with each. It decides nothing: which attempts run is the
// jobmaster's business, and an order that comes twice does nothing the second
// time.
//
// Goroutines: Run is one loop that owns the tables of attempts and jobs. Each
// attempt has one goroutine that sees it through from start to report, one that
// reads from its task and one that writes to it; all three end with the
// attempt, and Run waits for them. Attempts speak to the loop through a mailbox.
package tasknode
