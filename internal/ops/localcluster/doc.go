// Package localcluster runs a whole cluster on this machine, with a process for each daemon.
//
//	c, err := localcluster.Up(ctx, localcluster.Config{Dir: dir, Program: self, Masters: 3, Tasknodes: 4})
//	…                                     // c.State has the daemons' addresses
//	err = c.Wait(ctx)                     // in the foreground, or
//	_, err = localcluster.Down(ctx, dir)  // later, from any process
//
// All files are in one directory:
//
//	layout.json    what the cluster consists of; a later Up starts it again from this
//	cluster.json   what runs, for programs to read; it exists while the cluster is up
//	token          the secret of daemons and clients
//	logs/          a log for each daemon, which it rotates itself, and other output
//	               since its latest start, such as a crash
//	m1/ … n1/ …    a directory for each daemon
//	staging/       splits and programs of jobs
//	history/       histories of jobs that have ended
//	joblogs/       what their tasks have printed
//
// A process id may be reused. Before a process is ended, its start time and its command line
// are compared with those of the daemon that was started.
//
// Up and Down of one directory, from any process, exclude each other by a lock.
//
// Goroutines: one for each process that this one has started, which waits for its end, and
// the one of procfs.Starter.
//
// Only layout.json is needed to start a cluster again; all other files are created again or
// found as they are. Daemons that were not detached get SIGTERM when this process ends,
// whatever ends it.
package localcluster
