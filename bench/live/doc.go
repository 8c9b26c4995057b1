// Package live runs workloads on real clusters of this machine. It starts a cluster, or uses
// a cluster that `hammr up` has started.
//
//	c, err := live.Start(ctx, live.Config{Hammr: program, Dir: dir, Tasknodes: 3, MapSlots: 2, ReduceSlots: 1, Policy: "fair"})
//	run, err := c.Run(ctx, plan, "") // submits jobs at their times, fails machines, waits for the end
//	result := run.Result(shape)      // what a simulator would report, from the histories of the jobs
//	err = c.Stop()
//
// Tasks of most experiments sleep, so that jobs compete for slots and not for the cores of
// the one machine. All tasks of a phase sleep for the mean of their times in the workload.
//
// Package internal/ops/testcluster runs the processes of a cluster. They end with this process,
// even if it is killed.
//
// What runs on such a cluster:
//
//	Runner            trials of package paper, scaled to one machine (scale.go)
//	Replay            any workload of the simulator, by sleeping or sorting jobs
//	Bench             measurements of preemption, recovery, failover and of the simulator's error
//
// Results of a run have the type of the simulator's results, so that tables, pictures and
// comparisons are the same for both.
package live
