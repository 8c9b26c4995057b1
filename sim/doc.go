// Package sim plays a cluster in virtual time. Its masters are the real ones:
// it steps control.Controller over cluster.State with a real policy, and models
// only what lies around them, the machines, their tasks and the network. Two runs
// with the same configuration, workload and seed are equal in every bit.
//
//	result, err := sim.Run(ctx, sim.Config{Nodes: 100, MapSlots: 4, ReduceSlots: 2, Policy: new(fifo.Policy)}, w)
//
// What is modelled, and how, stands in docs/sim.md. All times are ms of virtual
// time since the start of the run. There are no goroutines.
package sim
