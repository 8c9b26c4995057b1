// Package rig is a cluster of processes on this machine that may be broken: the
// daemons of internal/localcluster, and an HDFS where one is given.
//
//	r, err := rig.Start(ctx, rig.Config{Dir: dir, Hammr: "/usr/bin/hammr", Masters: 3, Tasknodes: 4})
//	defer r.Close()
//	err = r.Kill("n2")
//	err = r.Start(ctx, []string{"n2"})
//
// Daemons have names: m1, m2, … are masters, n1, n2, … tasknodes, dn1, dn2, …
// DataNodes, and namenode is the NameNode. A rig signals no process but those
// that it has started and the tasks that are their children.
//
// Methods may be called by several goroutines at once; those that change one
// daemon take turns. Nothing of a rig outlives Close, nor the process that called
// Start, whatever ends it. Goroutines are those of internal/localcluster and of
// the client.
package rig
