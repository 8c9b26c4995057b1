// Package testcluster is the one handle of a running cluster for tests, drills and
// experiments: it starts, kills, stops and resumes daemons by name, runs commands of
// hammr, and waits for jobs and leaders.
//
//	c, err := testcluster.Start(ctx, testcluster.Config{Hammr: "/usr/bin/hammr", Config: localcluster.Config{Dir: dir}})
//	defer c.Close()
//	err = c.Kill(ctx, "n2")
//	err = c.Start(ctx, "n2")
//	s, err := c.AwaitJob(ctx, id, func(s *wire.JobStatus) bool { return s.MapsDone > 3 })
//
// Masters are named m1, m2, …, tasknodes n1, n2, …. The caller does not depend on where the
// daemons run:
//
//	        Cluster      client, commands, waiting
//	           │ Daemons
//	  ┌────────┼─────────┐
//	local    opened    hosts
//
// The daemons of local are children of this process and end with it, even if it is killed.
// The daemons of opened belong to a `hammr up` of this machine. The daemons of hosts run on
// the machines of a hostfile, which a shell such as ssh reaches; Close repairs faults there.
//
// Methods may be called by several goroutines at once; those that change one daemon
// take turns. A Cluster signals no process but its own daemons and their tasks. The
// goroutines are those of internal/ops/localcluster and of the client.
//
// The contract of a handle: after Start or Attach all daemons have answered. Kill returns
// when the process is gone, and Start when the daemon is ready. An error names the daemon.
// After Close of a cluster that was started here no process of it is left.
package testcluster
