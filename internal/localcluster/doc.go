// Package localcluster runs a whole cluster on this machine, each daemon a
// process of its own, and ends it again.
//
//	c, err := localcluster.Up(ctx, localcluster.Config{Dir: dir, Program: self, Masters: 3, Tasknodes: 4})
//	…                                     // c.State says who listens where
//	err = c.Wait(ctx)                     // in the foreground, or
//	err = localcluster.Down(ctx, dir)     // some other day, some other process
//
// Everything lies in one directory:
//
//	layout.json    what the cluster consists of; it is started from this again
//	cluster.json   what runs, for programs to read; there from ready to down
//	token          the secret that daemons and clients show
//	logs/          a log for each daemon, which it cuts itself; and what it writes
//	               beside it, such as how it crashed, since its latest start
//	m1/ … n1/ …    a directory for each daemon
//	staging/       splits and programs of jobs
//	history/       what is known of jobs that are over
//	joblogs/       what their tasks have printed
//
// Whoever ends a process first makes sure that it is the one that was started:
// a process id alone may be somebody else's by now, so the time of its start
// and its command line have to be the same as well.
//
// Up and Down of one directory, from whatever process, take turns by a lock.
//
// Goroutines: one for each process that was started by this one, which waits
// for its end; and one that is the parent of those that may not outlive this
// process.
package localcluster
