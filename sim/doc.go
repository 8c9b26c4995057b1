// Package sim simulates a cluster in virtual time. It runs the code of the real masters: it
// steps control.Controller over cluster.State with a real policy. Only the surroundings are
// modelled: machines, tasks, messages and the log. The package is the third body around the
// brain, next to jobmaster and internal/client/embedded.
//
//	result, err := sim.Run(ctx, sim.Config{Machines: 100, MapSlots: 4, ReduceSlots: 2, Policy: new(fifo.Policy)}, w)
//
// Two runs with the same configuration, workload and seed have equal results, bit for bit.
// There are no goroutines. All times are in ms of virtual time since the start of the run.
// The caller supplies a new policy for each run. docs/sim.md describes the model.
package sim
