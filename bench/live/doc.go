// Package live runs workloads on real clusters of this machine: on one of its
// own, each daemon a process, or on one that `hammr up` has started.
//
//	c, err := real.Start(ctx, real.Config{Hammr: program, Dir: dir, Nodes: 3, MapSlots: 2, ReduceSlots: 1, Policy: "fair"})
//	run, err := c.Run(ctx, plan)     // submits jobs at their times, fails machines, waits for the end
//	result := run.Result(plan.Shape) // what a simulator would say of it, by the histories of the jobs
//	err = c.Stop()
//
// Jobs of experiments sleep: slots are what they compete for, and not the cores of
// the one machine that plays a cluster. All tasks of a phase sleep for the mean of
// what the workload has for them.
//
// A Cluster that was started has one goroutine, which is the parent of `hammr up`
// and waits for it. The kernel ends that command, and it its daemons, and they
// their tasks, when this process ends in whatever way.
package live
